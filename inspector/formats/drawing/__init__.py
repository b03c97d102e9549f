"""Pictures as lists of what to draw, without Qt: texts and their widths, axes, and SVG."""
