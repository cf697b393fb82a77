"""The sources of the facts. Each module yields the cells of one: recordings, rules, profiles, documents, calendars."""
