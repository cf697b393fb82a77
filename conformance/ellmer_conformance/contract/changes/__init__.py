"""What changes over time at the providers: versions of an API, models that end, changelogs, and the day up to which the rules know them."""
