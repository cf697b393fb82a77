"""Public recordings: fetched, judged, played into this library; and the requests of other clients."""
