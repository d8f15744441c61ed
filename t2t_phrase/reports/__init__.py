"""HTML pages: one file each, without network access, for screens, paper and screen readers."""
