"""Questions: facts computed with torch, prose in Markdown."""
