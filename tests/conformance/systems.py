"""The systems whose recordings can be replayed, one line each."""

from __future__ import annotations

from typing import Final

from inspector.engines.cocos.dialects import COCOS2DX_3_4, COCOS2DX_3_15, CREATOR_2_4, CREATOR_3_8
from inspector.engines.creator.versions import (
    COMPONENTS_1_10,
    COMPONENTS_2_0_10,
    COMPONENTS_2_1_4,
    COMPONENTS_2_2,
    COMPONENTS_2_4,
)
from tests.conformance.egret import replay_egret, replay_egret_repairs
from tests.conformance.frameview import replay_frameview
from tests.conformance.fsm import replay_fsm
from tests.conformance.html_timers import replay_chromium, replay_standard
from tests.conformance.lifecycle import replay_lifecycle
from tests.conformance.openflash_clock import replay_article, replay_fixed, replay_upstream
from tests.conformance.pacer import replay_pacer
from tests.conformance.replay import System
from tests.conformance.schedulers import (
    COCOS2DX_3_4_CODES,
    COCOS2DX_3_15_CODES,
    CREATOR_CODES,
    replay_as,
)

#: Where we differ on purpose stands in the last field: line id to reason.
SYSTEMS: Final = (
    System("openflash_clock", "upstream", replay_upstream, {}),
    System("openflash_clock", "fixed", replay_fixed, {}),
    System("openflash_clock", "article", replay_article, {}),
    System("cocos1_lifecycle", None, replay_lifecycle(COMPONENTS_1_10), {}),
    System(
        "cocos20_lifecycle",
        "2.0.10",
        replay_lifecycle(COMPONENTS_2_0_10),
        {},
        is_recorded_where_it_differs=True,
    ),
    System(
        "cocos20_lifecycle",
        "2.1.4",
        replay_lifecycle(COMPONENTS_2_1_4),
        {},
        is_recorded_where_it_differs=True,
    ),
    System("cocos20_lifecycle", None, replay_lifecycle(COMPONENTS_2_2), {}),
    System("cocos2_lifecycle", None, replay_lifecycle(COMPONENTS_2_4), {}),
    System("frameview_statistics", None, replay_frameview, {}, recorded_as="reported"),
    System("fsm", None, replay_fsm, {}),
    System("cocos3_pacer", None, replay_pacer, {}),
    System("egret_timer", None, replay_egret, {}),
    System("egret_repairs", None, replay_egret_repairs, {}),
    System("html_timers", None, replay_standard, {}),
    System("html_timers", "chromium", replay_chromium, {}),
    System("cocos2_scheduler", None, replay_as(CREATOR_2_4, CREATOR_CODES), {}),
    System("cocos3_scheduler", None, replay_as(CREATOR_3_8, CREATOR_CODES), {}),
    System("cocos2dx_v34_scheduler", None, replay_as(COCOS2DX_3_4, COCOS2DX_3_4_CODES), {}),
    System("cocos2dx_v315_scheduler", None, replay_as(COCOS2DX_3_15, COCOS2DX_3_15_CODES), {}),
)
