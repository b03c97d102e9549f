"""The frame schedulers of Cocos2d-x and Cocos Creator, call for call."""
