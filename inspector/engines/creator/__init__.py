"""The directors, nodes and components of Cocos Creator, call for call."""
