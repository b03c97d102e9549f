"""The window that shows help: contents and search beside one page at a time."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRegularExpression, QSize, Qt, QUrl, Slot
from PySide6.QtGui import (
    QDesktopServices,
    QKeySequence,
    QShortcut,
    QTextBlock,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import (
    QDialog,
    QSplitter,
    QTextBrowser,
    QTextEdit,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from ..kit.filter_line import FilterLine
from ..kit.guards import guarded
from ..kit.labels import plain_label
from ..kit.layouts import fill, in_row
from ..kit.theme import Theme
from .contents import CONTENTS
from .pages import Hit, anchor_of, read_page, search

#: Role of the page, and the anchor in it, that a line of the list leads to.
_TARGET: Final = Qt.ItemDataRole.UserRole
_LIST_WIDTH: Final = 310
#: Pixels above and below the two lines of a hit, together.
_ROOM: Final = 8


@guarded
class HelpViewer(QDialog):
    """One help page at a time, beside the contents or what a search has found.

    Links between pages are followed in place; Alt+Left and Alt+Right go back and forward.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("help_viewer")
        self.setWindowTitle("Help")
        # page: Name of the page: its file without the suffix
        # section: Anchor of the section that was asked for, empty for the top of the page
        self.page = self.section = ""
        self._visited: list[tuple[str, str]] = []
        self._place = -1
        self.filter_line = FilterLine("Search help")
        self.filter_line.set_icons(theme)
        # The contents; while something is searched for, the sections that have it
        self.list = QTreeWidget()
        self.list.setAccessibleName("Contents")
        self.list.setHeaderHidden(True)
        self.list.setIndentation(14)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._count = plain_label(wraps=True)
        self._count.hide()
        self.browser = QTextBrowser()
        self.browser.setAccessibleName("Help page")
        self.browser.setOpenLinks(False)
        self.browser.document().setDocumentMargin(20)
        self._back = self._button(Qt.ArrowType.LeftArrow, "Back", "Alt+Left", self.go_back)
        self._forward = self._button(
            Qt.ArrowType.RightArrow, "Forward", "Alt+Right", self.go_forward
        )
        self._lay_out()
        self._fill_contents()
        self._update_buttons()
        self.filter_line.filter_changed.connect(self.search)
        self.filter_line.returnPressed.connect(self._open_first)
        self.filter_line.left_downwards.connect(self.list.setFocus)
        self.list.currentItemChanged.connect(self._open_item)
        self.list.itemClicked.connect(self._open_item)
        self.browser.anchorClicked.connect(self.follow_link)
        find = QShortcut(QKeySequence.StandardKey.Find, self)
        find.activated.connect(self.focus_search)

    def open_page(self, name: str, section: str = "") -> None:
        """Show a page of ``resources/help``, at the section with this anchor if it has one."""
        self._visited[self._place + 1 :] = [(name, section)]
        self._place += 1
        self._load_page(name, section)

    @Slot()
    def focus_search(self) -> None:
        self.filter_line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter_line.selectAll()

    @Slot()
    def go_back(self) -> None:
        self._go(-1)

    @Slot()
    def go_forward(self) -> None:
        self._go(1)

    @Slot(str)
    def search(self, text: str) -> None:
        """List the sections that have every word of ``text``; without one, the contents."""
        hits = search(text)
        self.list.setAccessibleName("Sections found" if text else "Contents")
        if text:
            self._fill_hits(hits)
            count = f"{len(hits)} section{'s' * (len(hits) != 1)}"
            self._count.setText(count if hits else f"No section contains “{text}”.")
        else:
            self._fill_contents()
        self._count.setVisible(bool(text))
        self._highlight()

    @Slot(QUrl)
    def follow_link(self, url: QUrl) -> None:
        """Show another page or section, or open an external link with its program."""
        if url.isRelative() and (not url.path() or url.path().endswith(".md")):
            self.open_page(url.path().removesuffix(".md") or self.page, url.fragment())
        else:
            QDesktopServices.openUrl(url)

    def _button(self, arrow: Qt.ArrowType, name: str, keys: str, callback: object) -> QToolButton:
        button = QToolButton()
        button.setArrowType(arrow)
        button.setAutoRaise(True)
        button.setAccessibleName(name)
        button.setToolTip(f"{name} ({keys})")
        button.setShortcut(QKeySequence(keys))
        button.clicked.connect(callback)
        return button

    def _lay_out(self) -> None:
        top = in_row(self._back, self._forward, (self.filter_line, 1), spacing=4)
        left = QWidget()
        fill(left, top, self._count, (self.list, 1), margins=(6, 6, 0, 6))
        splitter = QSplitter()
        splitter.addWidget(left)
        splitter.addWidget(self.browser)
        splitter.setStretchFactor(1, 1)
        splitter.setCollapsible(1, False)
        splitter.setSizes([_LIST_WIDTH, 2 * _LIST_WIDTH])
        fill(self, splitter)
        self.resize(3 * _LIST_WIDTH + 30, 680)

    def _fill_contents(self) -> None:
        self.list.blockSignals(True)
        self.list.clear()
        self.list.setRootIsDecorated(False)
        for title, pages in CONTENTS:
            group = QTreeWidgetItem(self.list, [title])
            group.setFlags(Qt.ItemFlag.ItemIsEnabled)
            font = group.font(0)
            font.setBold(True)
            group.setFont(0, font)
            group.setExpanded(True)
            for page in pages:
                item = QTreeWidgetItem(group, [page.title])
                item.setData(0, _TARGET, (page.name, ""))
                item.setToolTip(0, page.title)
                if page.name == self.page:
                    self.list.setCurrentItem(item)
        self.list.blockSignals(False)

    def _fill_hits(self, hits: list[Hit]) -> None:
        self.list.blockSignals(True)
        self.list.clear()
        for hit in hits:
            title = hit.section
            if title != hit.page.title:
                title = f"{hit.page.title} › {title}"
            item = QTreeWidgetItem(self.list, [f"{title}\n{hit.excerpt}".rstrip()])
            item.setSizeHint(0, QSize(0, 2 * self.fontMetrics().height() + _ROOM))
            item.setToolTip(0, item.text(0))
            item.setData(0, _TARGET, (hit.page.name, anchor_of(hit.section)))
        self.list.blockSignals(False)

    def _load_page(self, name: str, section: str) -> None:
        text = read_page(name)
        if name != self.page:
            self.browser.document().setMarkdown(
                text, QTextDocument.MarkdownFeature.MarkdownDialectGitHub
            )
            title = text.partition("\n")[0].lstrip("# ")
            self.setWindowTitle(f"Help: {title}")
        self.page, self.section = name, section
        block = self._heading(section)
        self.browser.moveCursor(QTextCursor.MoveOperation.Start)
        if block is not None:
            layout = self.browser.document().documentLayout()
            self.browser.verticalScrollBar().setValue(int(layout.blockBoundingRect(block).top()))
        self._mark_in_contents()
        self._highlight()
        self._update_buttons()

    def _heading(self, anchor: str) -> QTextBlock | None:
        block = self.browser.document().begin()
        while anchor and block.isValid():
            if block.blockFormat().headingLevel() and anchor_of(block.text()) == anchor:
                return block
            block = block.next()
        return None

    def _highlight(self) -> None:
        """Mark the words that are searched for in the page.

        Marks never overlap: Qt joins the outlines of all marks in a paragraph, which takes
        minutes where each letter has many.
        """
        marks = []
        if words := set(self.filter_line.filter_text.split()):
            # The longest first: of several words that begin at one place, the longest is marked.
            longest_first = sorted(map(QRegularExpression.escape, words), key=len, reverse=True)
            wanted = QRegularExpression(
                f"(?:{'|'.join(longest_first)})+",
                QRegularExpression.PatternOption.CaseInsensitiveOption,
            )
            cursor = self.browser.document().find(wanted)
            while not cursor.isNull():
                mark = QTextEdit.ExtraSelection()
                mark.cursor = cursor
                mark.format.setBackground(self.palette().highlight())
                mark.format.setForeground(self.palette().highlightedText())
                marks.append(mark)
                cursor = self.browser.document().find(wanted, cursor)
        self.browser.setExtraSelections(marks)

    def _go(self, step: int) -> None:
        place = self._place + step
        if 0 <= place < len(self._visited):
            self._place = place
            self._load_page(*self._visited[place])

    def _update_buttons(self) -> None:
        self._back.setEnabled(self._place > 0)
        self._forward.setEnabled(self._place < len(self._visited) - 1)

    def _mark_in_contents(self) -> None:
        if self.filter_line.filter_text:
            return
        self.list.blockSignals(True)
        for number in range(self.list.topLevelItemCount()):
            group = self.list.topLevelItem(number)
            for row in range(0 if group is None else group.childCount()):
                item = group.child(row) if group is not None else None
                if item is not None and item.data(0, _TARGET)[0] == self.page:
                    self.list.setCurrentItem(item)
        self.list.blockSignals(False)

    @Slot()
    def _open_first(self) -> None:
        item = self.list.topLevelItem(0)
        if self.filter_line.filter_text and item is not None:
            self.list.setCurrentItem(item)

    @Slot(QTreeWidgetItem)
    def _open_item(self, item: QTreeWidgetItem | None) -> None:
        target = None if item is None else item.data(0, _TARGET)
        if target is not None and tuple(target) != (self.page, self.section):
            self.open_page(*target)
