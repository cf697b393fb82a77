"""The forms of a report for people and programs: terminal, Markdown, HTML, SARIF, badge.

Each form imports the values of `report`, and no other form.
"""
