"""A session as one HTML file: lanes and frames on one axis, and what the inspector says of them.

``page_data.py`` gathers what is shown, in columns; ``page.py`` packs it into one file with
``page.css``, ``reading.js`` and ``page.js``, which draw it.
"""
