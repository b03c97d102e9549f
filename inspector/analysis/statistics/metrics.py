"""Statistics of frame times as different tools define them, each under the tool's name.

One capture has at least five legitimate "1 % lows"; on short or uneven runs they differ by up to a
quarter. So no number here stands without its definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import floor, inf
from typing import Final

import numpy as np
from msgspec import Struct

from inspector.analysis.statistics import active_times, pacing
from inspector.analysis.statistics.frame_statistics import nearest_rank
from inspector.analysis.statistics.long_frames import LongFrameCause
from inspector.analysis.statistics.time_series import TimeSeries, quantile_7, quantile_8, rate_of
from inspector.timebase import decimals_for

_FPS, _MS, _PERCENT, _S, _COUNT = "fps", "ms", "%", "s", "frames"

_SOURCES: Final = {
    "": "Hyndman & Fan 1996, type 1; averages as in PresentMon",
    "NVIDIA FrameView": "recomputed from FrameView's logs and summaries, within 0.005 %",
    "PresentMon": "PresentMon's source, GameTechDev/PresentMon",
    "CapFrameX": "CapFrameX's source, FrametimeStatisticProvider; its quantiles are MathNet's",
    "CapFrameX Linux": "CapFrameX for Linux, source",
    "MangoHud": "MangoHud's source, flightlessmango/MangoHud",
    "Apple": "Apple Tech Talk 10855, “Explore UI animation hitches and the render loop”",
    "Android": "Android's JankStats library and Android vitals",
    "Flutter": "Flutter's documentation on rendering performance",
}

_DURATION: Final = "Σ f / 1000; of samples, from the first to the last"
#: MangoHud leaves out longer frames.
_MANGOHUD_MOST_MS: Final = 100_000.0


class Metric(Struct, frozen=True):
    """A statistic as a tool defines it."""

    id: str  # What --assert and JSON call it, such as frameview.low-1
    tool: str  # The tool whose definition it is; empty for ours
    name: str  # What the tool calls it
    unit: str  # fps, ms, %, s, frames or ms/s
    formula: str  # Its definition, over frame times f in milliseconds
    # Computes it from at least one frame; None where it is undefined.
    compute: Callable[[TimeSeries], float | None]
    is_of_every_frame: bool = True  # Whether it needs every frame, so samples are not enough
    needs_refresh: bool = False  # Whether it needs TimeSeries.refresh_ms
    needs: str = ""  # What a capture must have besides frame times, in words; empty for none
    columns: tuple[str, ...] = ()  # The further columns that it is computed from, by possible names
    # Whether only our own sessions can have it; for captures it is left out unless asked for.
    is_of_sessions: bool = False

    @property
    def full_name(self) -> str:
        """The name behind the tool whose definition it is."""
        return f"{self.tool} {self.name}".strip()

    @property
    def source(self) -> str:
        return _SOURCES.get(self.tool, _SOURCES[""])


class MetricValue(Struct, frozen=True):
    metric: Metric
    value: float | None  # Its value in the metric's unit; None where it is undefined
    why_not: str = ""  # Why there is none; empty if there is one
    damage: str = ""  # Damaged values in its columns, which it leaves out, as sentences

    @property
    def text(self) -> str:
        """The value in as many digits as are significant, with its unit."""
        return self._written(0 if self.value is None else decimals_for(abs(self.value)))

    @property
    def exact_text(self) -> str:
        """The value as it is compared with a limit."""
        return self._written(2)

    def _written(self, decimals: int) -> str:
        if self.value is None:
            return "-"
        unit = self.metric.unit
        if unit == _COUNT:
            return f"{self.value:,.0f}"
        return f"{self.value:,.{decimals}f} {unit}"


# --------------------------------------------------------------------------- FrameView


def _frameview_low(share: float, series: TimeSeries) -> float:
    """Return a rate: ``1000 / mean`` of the ``floor(share n) + 1`` longest frame times.

    FrameView's "x % Low FPS", recomputed from its logs and summaries.
    """
    slowest = series.slowest_ms(floor(share * len(series)) + 1)
    return rate_of(float(slowest.sum()) / len(slowest))


def _frameview_rate(share: float, series: TimeSeries) -> float:
    """Return the rate at place ``floor(share n)``, from 0, of all rates from the lowest on.

    FrameView's "x % FPS", recomputed from its logs and summaries.
    """
    return rate_of(float(series.ordered_ms[len(series) - 1 - floor(share * len(series))]))


# --------------------------------------------------------------------------- CapFrameX


def _capframex_rate(share: float, series: TimeSeries) -> float:
    """Return a quantile of type 8 of the frame rates (CapFrameX's "Px", MathNet's quantile)."""
    # The quantile is of frame rates, which are in the opposite order.
    return quantile_8(series.ordered_ms[::-1], share, of=rate_of)


def _capframex_low(share: float, series: TimeSeries) -> float:
    """Return a rate: ``1000 / mean(f_i : f_i >= Q8(f, 1 - share))``.

    CapFrameX's "x % low average".
    """
    limit = quantile_8(series.ordered_ms, 1 - share)
    first = int(np.searchsorted(series.ordered_ms, limit, side="left"))
    return rate_of(float(series.ordered_ms[min(first, len(series) - 1) :].mean()))


def _low_integral(share: float, series: TimeSeries) -> float:
    """Return the rate of the frame with which the longest add up to a share of the time.

    ``1000 / f_k`` for the least k with ``f_1 + ... + f_k >= share sum f``, the longest first:
    CapFrameX's and MSI Afterburner's "x % low integral".
    """
    slowest_first = series.ordered_ms[::-1]
    # The total is summed up in this order, as other orders may differ in the last digit.
    sums = slowest_first.cumsum()
    place = int(sums.searchsorted(share * float(sums[-1]), side="left"))
    return rate_of(float(slowest_first[place]))


# --------------------------------------------------------------------------- MangoHud


def _mangohud_rate(share: float, series: TimeSeries) -> float | None:
    """Return the rate at place ``trunc(share n)``, from 1, of the frames from the longest on.

    MangoHud's "x % Min FPS"; ``None`` for ``share n < 1``. Frames over 100 s are left out.
    """
    ordered = series.ordered_ms
    usable = ordered[: int(np.searchsorted(ordered, _MANGOHUD_MOST_MS, side="right"))]
    place = int(share * len(usable)) - 1
    return rate_of(float(usable[len(usable) - 1 - place])) if place >= 0 else None


# --------------------------------------------------------------------------- the rest


def _nearest(percent: float, series: TimeSeries) -> float:
    """Return the frame time at place ``ceil(percent n / 100)``: nearest rank (type 1)."""
    return float(series.ordered_ms[nearest_rank(len(series), percent)])


def _mean(series: TimeSeries) -> float:
    return series.mean_ms


def _mean_rate(series: TimeSeries) -> float:
    """Return ``1000 n / sum f``: the average of every tool here."""
    return series.mean_rate


def _lowest_rate(series: TimeSeries) -> float:
    """Return ``1000 / max f`` (FrameView, PresentMon)."""
    return rate_of(float(series.ordered_ms[-1]))


def _highest_rate(series: TimeSeries) -> float:
    """Return ``1000 / min f`` (FrameView, PresentMon)."""
    return rate_of(float(series.ordered_ms[0]))


def _seconds(series: TimeSeries) -> float:
    return (series.total_ms if series.sampled_ms is None else series.sampled_ms) / 1000


def _seconds_after_first(series: TimeSeries) -> float:
    """Return ``sum f`` from the second frame on, in seconds (FrameView's "Time")."""
    return (series.total_ms - float(series.times_ms[0])) / 1000


def _rate_of_quantile_7(share: float, series: TimeSeries) -> float:
    """Return ``1000 / Q7(f, 1 - share)``.

    PresentMon's "xst Percentile FPS", and the "1% low" of CapFrameX for Linux.
    """
    return rate_of(quantile_7(series.ordered_ms, 1 - share))


def _at_refresh(
    compute: Callable[[TimeSeries, float], float | None], series: TimeSeries
) -> float | None:
    return None if series.refresh_ms is None else compute(series, series.refresh_ms)


def _percent(share: Callable[[TimeSeries], float], series: TimeSeries) -> float:
    return 100 * share(series)


def _missed_percent(series: TimeSeries, refresh_ms: float) -> float:
    return 100 * pacing.missed_share(series, refresh_ms)


def _mean_of_rates(series: TimeSeries) -> float:
    """Return ``mean(1000 / f_i)``, which never is below the average (MangoHud before 0.7)."""
    return float((1000 / series.times_ms).mean())


def _below_count(rate: float, series: TimeSeries) -> int:
    """Return the number of frames with ``1000 / f_i < rate`` (CapFrameX, thresholds)."""
    return pacing.below_rate(series, rate)[0]


def _variance(place: int, series: TimeSeries) -> float:
    """Return the share of changes in a class, in percent (CapFrameX, variances)."""
    return 100 * series.once(pacing.variance_shares)[place]


def _below(rate: float, series: TimeSeries) -> float:
    """Return the share of time in frames with ``1000 / f_i < rate``, in percent (CapFrameX)."""
    return 100 * pacing.below_rate(series, rate)[1] / series.total_ms


_FRAMEVIEW, _PRESENTMON, _CAPFRAMEX = "NVIDIA FrameView", "PresentMon", "CapFrameX"
_MANGOHUD, _ANDROID, _APPLE, _FLUTTER = "MangoHud", "Android", "Apple", "Flutter"

#: Follows formulas of stuttering.
_SET: Final = "; k = 2.5 and l = 25 unless set"
#: Follows formulas of input lag.
_LAG: Final = (
    "; u: MsUntilDisplayed, f': of the displayed frame before, a'': MsInPresentAPI of the one "
    "before that; CapFrameX adds an offset, 10 ms by default"
)


_NO_SESSION: Final = (
    "; the inspector sees when a frame of a session begins, not when it is displayed"
)
_DISPLAY_TIMES: Final = f"times of display, such as MsBetweenDisplayChange{_NO_SESSION}"
_DISPLAY_COLUMNS: Final = ("MsBetweenDisplayChange", "DisplayedTime")
_SIMULATION_COLUMN: Final = "MsBetweenSimulationStart"
_ANIMATION_ERRORS: Final = (
    f"an animation error, or the times of simulation and display{_NO_SESSION}"
)


def _caused(cause: LongFrameCause, series: TimeSeries) -> int | None:
    return pacing.caused_count(series, cause)


def _ours() -> Iterator[Metric]:
    yield Metric("frames", "", "Frames", _COUNT, "n", len)
    yield Metric("duration", "", "Duration", _S, _DURATION, _seconds, is_of_every_frame=False)
    yield Metric("fps", "", "Average", _FPS, "1000 n / Σ f", _mean_rate)
    yield Metric("mean", "", "Mean", _MS, "Σ f / n", _mean, is_of_every_frame=False)
    for percent in (50, 90, 95, 99, 99.9):
        formula = f"f sorted, place ⌈{percent / 100:g} n⌉ (nearest rank)"
        yield Metric(f"p{percent:g}", "", f"P{percent:g}", _MS, formula, partial(_nearest, percent))
    yield Metric("min", "", "Shortest", _MS, "min f", partial(_nearest, 0))
    yield Metric("max", "", "Longest", _MS, "max f", partial(_nearest, 100))
    for key, name, unit, formula, compute in (
        (
            *("missed", "Missed refreshes", _COUNT),
            "Σ max(0, ⌈(f - tolerance) / refresh⌉ - 1); the tolerance is 15 %, at least 1 ms",
            pacing.missed_refreshes,
        ),
        (
            *("missed-share", "Share of missed refreshes", _PERCENT),
            "missed refreshes over n + missed refreshes",
            _missed_percent,
        ),
    ):
        at_refresh = partial(_at_refresh, compute)
        yield Metric(key, "", name, unit, formula, at_refresh, needs_refresh=True)
    formula = "Σ max(0, round(d / refresh) - 1), d between displayed frames"
    compute_displayed = partial(_at_refresh, pacing.missed_displays)
    yield Metric(
        *("missed-displayed", "", "Missed refreshes, as displayed", _COUNT, formula),
        compute_displayed,
        needs_refresh=True,
        needs=_DISPLAY_TIMES,
        columns=_DISPLAY_COLUMNS,
    )
    for cause in LongFrameCause:
        formula = f"frames over budget of which the largest share is {cause.text}"
        yield Metric(
            *(f"long.{cause.name.lower().replace('_', '-')}", "", cause.title),
            *(_COUNT, formula, partial(_caused, cause)),
            needs="shares of the interval, as sessions of ours have",
            is_of_sessions=True,
        )


def _averages(tool: str, prefix: str) -> Iterator[Metric]:
    yield Metric(f"{prefix}.average", tool, "Avg FPS", _FPS, "1000 n / Σ f", _mean_rate)
    yield Metric(f"{prefix}.min", tool, "Min FPS", _FPS, "1000 / max f", _lowest_rate)
    yield Metric(f"{prefix}.max", tool, "Max FPS", _FPS, "1000 / min f", _highest_rate)


def _frameview() -> Iterator[Metric]:
    tool = "NVIDIA FrameView"
    yield from _averages(tool, "frameview")
    for share, text in ((0.01, "1"), (0.001, "0.1")):
        formula = f"1000 / mean of the ⌊{share:g} n⌋ + 1 longest f"
        low = partial(_frameview_low, share)
        yield Metric(f"frameview.low-{text}", tool, f"{text}% Low FPS", _FPS, formula, low)
    for share, text in ((0.001, "0.1"), (0.01, "1"), (0.05, "5"), (0.1, "10")):
        formula = f"1000 / f, f sorted from the longest, place ⌊{share:g} n⌋ from 0"
        rate = partial(_frameview_rate, share)
        yield Metric(f"frameview.fps-{text}", tool, f"{text}% FPS", _FPS, formula, rate)
    formula = "Σ f without the first, / 1000"
    yield Metric("frameview.time", tool, "Time", _S, formula, _seconds_after_first)


def _presentmon() -> Iterator[Metric]:
    tool = "PresentMon"
    yield from _averages(tool, "presentmon")
    for share, text in ((0.01, "1st"), (0.05, "5th")):
        formula = f"1000 / Q₇(f, {1 - share:g})"
        rate = partial(_rate_of_quantile_7, share)
        yield Metric(f"presentmon.{text}", tool, f"{text} Percentile FPS", _FPS, formula, rate)
    for key, name, unit, formula, compute in (
        (
            *("animation-error", "AnimationErrorPerFrame", _MS),
            "mean |simulation step - display step| of displayed frames",
            pacing.animation_error,
        ),
        (
            *("animation-error-rate", "AnimationErrorPerSecond", "ms/s"),
            "Σ |simulation step - display step| over the duration in seconds",
            pacing.animation_error_rate,
        ),
    ):
        yield Metric(
            *(f"presentmon.{key}", tool, name, unit, formula, compute),
            needs=_ANIMATION_ERRORS,
            columns=(*_DISPLAY_COLUMNS, "MsAnimationError", "AnimationError", _SIMULATION_COLUMN),
        )


def _capframex() -> Iterator[Metric]:
    tool = "CapFrameX"
    yield Metric("capframex.average", tool, "Average", _FPS, "1000 n / Σ f", _mean_rate)
    for share, key, text in (
        *((0.001, "p0.1", "P0.1"), (0.002, "p0.2", "P0.2"), (0.01, "p1", "P1"), (0.05, "p5", "P5")),
        *((0.5, "median", "Median"), (0.95, "p95", "P95"), (0.99, "p99", "P99")),
    ):
        formula = f"Q₈(1000 / f, {share:g})"
        rate = partial(_capframex_rate, share)
        yield Metric(f"capframex.{key}", tool, text, _FPS, formula, rate)
    yield Metric("capframex.min", tool, "Min", _FPS, "1000 / max f", _lowest_rate)
    yield Metric("capframex.max", tool, "Max", _FPS, "1000 / min f", _highest_rate)
    for share, text in ((0.01, "1"), (0.002, "0.2"), (0.001, "0.1")):
        formula = f"1000 / mean of f ≥ Q₈(f, {1 - share:g})"
        low = partial(_capframex_low, share)
        yield Metric(f"capframex.low-{text}", tool, f"{text}% low average", _FPS, formula, low)
        formula = f"1000 / f at which the longest f add up to {share:g} Σ f"
        low = partial(_low_integral, share)
        name = f"{text}% low integral (as MSI Afterburner)"
        yield Metric(f"capframex.integral-{text}", tool, name, _FPS, formula, low)
    for key, name, formula, share_of in (
        (
            "stuttering",
            "Stuttering time",
            f"Σ f with f > k trailing mean, over Σ f{_SET}",
            pacing.stuttering_time_share,
        ),
        (
            "low-fps",
            "Low FPS time",
            f"Σ f below l fps that does not stutter, over Σ f{_SET}",
            pacing.low_rate_time_share,
        ),
        (
            "stutters",
            "Stuttering frames",
            f"frames with f > k mean f, over n{_SET}",
            pacing.stuttering_count_share,
        ),
        (
            "stuttering-live",
            "Stuttering time (as seen live)",
            f"Σ f with f > k mean f, over Σ f{_SET}",
            pacing.stuttering_live_share,
        ),
    ):
        compute = partial(_percent, share_of)
        yield Metric(f"capframex.{key}", tool, name, _PERCENT, formula, compute)
    yield from _active_times(tool)
    for bound, mean in (
        (active_times.Bound.LOWER, "mean u"),
        (active_times.Bound.EXPECTED, "mean of lower and upper bound"),
        (active_times.Bound.UPPER, "mean of f' - a'' + Σ f dropped since + f + u"),
    ):
        key = f"capframex.lag-{bound.name.lower()}"
        name = f"Approximate input lag, {bound.value}"
        lag = partial(active_times.input_lag, bound)
        about = (key, tool, name, _MS, f"{mean}{_LAG}", lag)
        needs, columns = active_times.LAG_NEEDS, active_times.LAG_COLUMNS
        yield Metric(*about, needs=needs, columns=columns)
    formula = "√(Σ (f - trailing mean of 500 ms)² / (n - 1))"
    deviation = pacing.adaptive_deviation
    yield Metric("capframex.deviation", tool, "Adaptive deviation", _MS, formula, deviation)
    formula = "the same of 1000 / f; the 500 are a sum of rates"
    deviation = pacing.adaptive_rate_deviation
    name = "Adaptive deviation of FPS"
    yield Metric("capframex.fps-deviation", tool, name, _FPS, formula, deviation)
    bounds = [f"< {edge:g} ms" for edge in pacing.VARIANCE_EDGES_MS]
    for place, text in enumerate([*bounds, f"≥ {pacing.VARIANCE_EDGES_MS[-1]:g} ms"]):
        formula = "changes |f - f before| in this class, over n - 1"
        variance = partial(_variance, place)
        key = f"capframex.variance-{place + 1}"
        yield Metric(key, tool, f"Variance {text}", _PERCENT, formula, variance)
    for threshold in pacing.THRESHOLD_RATES:
        formula = f"Σ f with 1000 / f < {threshold}, over Σ f"
        below = partial(_below, threshold)
        name = f"Time below {threshold} fps"
        yield Metric(f"capframex.below-{threshold}", tool, name, _PERCENT, formula, below)
        formula = f"frames with 1000 / f < {threshold}"
        count = partial(_below_count, threshold)
        name = f"Frames below {threshold} fps"
        yield Metric(f"capframex.count-{threshold}", tool, name, _COUNT, formula, count)


def _active_times(tool: str) -> Iterator[Metric]:
    for part, needs in active_times.ACTIVE_NEEDS.items():
        title = part.name
        rate, mean = (
            partial(each, part)
            for each in (active_times.active_rate, active_times.mean_active_time)
        )
        quantile = partial(active_times.active_rate_quantile, part, 0.01)
        low = partial(active_times.active_low, part, 0.01)
        for key, name, unit, formula, compute in (
            ("time", "active time", _MS, "Σ g / n", mean),
            ("average", "active average", _FPS, "1000 n / Σ g", rate),
            ("p1", "active P1", _FPS, "Q₈(1000 / g, 0.01)", quantile),
            ("low-1", "active 1% low average", _FPS, "1000 / mean of g ≥ Q₈(g, 0.99)", low),
        ):
            whole = f"{formula}, g: the time that the {title} was active for the frame"
            metric_id = f"capframex.{title.lower()}-{key}"
            about = (metric_id, tool, f"{title} {name}", unit, whole, compute)
            yield Metric(*about, needs=needs, columns=part.value)


def _others() -> Iterator[Metric]:
    linux = partial(_rate_of_quantile_7, 0.01)
    formula = "1000 / Q₇(f, 0.99)"
    yield Metric("capframex-linux.low-1", "CapFrameX Linux", "1% low", _FPS, formula, linux)
    tool = "MangoHud"
    yield Metric("mangohud.average", tool, "Average FPS", _FPS, "1000 n / Σ f", _mean_rate)
    formula, name = "Σ (1000 / f) / n: never below the average", "Average FPS before 0.7"
    yield Metric("mangohud.mean-of-rates", tool, name, _FPS, formula, _mean_of_rates)
    for share, text in ((0.001, "0.1% Min"), (0.01, "1% Min"), (0.97, "97% Percentile")):
        formula = f"1000 / f, f sorted from the longest, place ⌊{share:g} n⌋ from 1"
        rate = partial(_mangohud_rate, share)
        key = f"mangohud.{text.split('%')[0]}"
        yield Metric(key, tool, f"{text} FPS", _FPS, formula, rate)
    for key, tool, name, unit, formula, compute in (
        (
            "apple.hitches",
            "Apple",
            "Hitch time ratio",
            "ms/s",
            "1000 Σ max(0, f - refresh) / Σ f; up to 5 is good, over 10 critical",
            pacing.hitch_time_ratio,
        ),
        (
            "flutter.jank",
            "Flutter",
            "Janky frames",
            _COUNT,
            "frames with f > refresh",
            partial(pacing.jank_count, factor=1.0),
        ),
        (
            "android.jank",
            "Android",
            "Jank (JankStats)",
            _COUNT,
            "frames with f > 2 refresh",
            pacing.jank_count,
        ),
    ):
        at_refresh = partial(_at_refresh, compute)
        yield Metric(key, tool, name, unit, formula, at_refresh, needs_refresh=True)
    for key, name, least_ms, longest_ms in (
        ("slow", "Slow frames", pacing.SLOW_MS, pacing.FROZEN_MS),
        ("frozen", "Frozen frames", pacing.FROZEN_MS, pacing.NOT_RESPONDING_MS),
        ("not-responding", "Not responding (ANR)", pacing.NOT_RESPONDING_MS, inf),
    ):
        upper = f" ≤ {longest_ms:g} ms" if longest_ms < inf else ""
        formula = f"frames with f > {least_ms:g} ms{' and' if upper else ''}{upper}"
        slow = partial(pacing.slow_count, longest_ms=longest_ms, least_ms=least_ms)
        yield Metric(f"android.{key}", "Android", name, _COUNT, formula, slow)


METRICS: Final = (*_ours(), *_frameview(), *_presentmon(), *_capframex(), *_others())


def metric_values(series: TimeSeries, *, wanted: frozenset[str] | None = None) -> list[MetricValue]:
    """Return the values of all metrics, or of the wanted ones, in the order of :data:`METRICS`."""
    is_ours = series.facts.causes is not None
    if wanted is None:
        chosen = [each for each in METRICS if is_ours or not each.is_of_sessions]
    else:
        chosen = [each for each in METRICS if each.id in wanted]
    return [_value(each, series) for each in chosen]


def _value(metric: Metric, series: TimeSeries) -> MetricValue:
    if not len(series):
        return MetricValue(metric, None, "There are no frames.")
    if series.sampled_ms is not None and metric.is_of_every_frame:
        why = "The log has samples, not every frame, and this needs every frame."
        return MetricValue(metric, None, why)
    if metric.needs_refresh and series.refresh_ms is None:
        return MetricValue(metric, None, "The refresh rate is unknown: say it with --refresh.")
    value = metric.compute(series)
    if value is None and metric.needs:
        return MetricValue(metric, None, f"This needs {metric.needs}.")
    why_not = "" if value is not None else "There are too few frames."
    return MetricValue(metric, value, why_not, active_times.damage_text(series, metric.columns))
