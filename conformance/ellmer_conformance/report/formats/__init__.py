"""The forms in which people and programs read a report: terminal, Markdown, HTML, SARIF, badge.

Each imports the values of `report`, and no other form.
"""
