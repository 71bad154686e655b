package faults

// Faults of what the cache of one kind shows. None of them shows an object as it
// was before a state that the same life has shown already.
var (
	CacheAhead = &Fault{
		Name: "cacheAhead", Doc: "The cache of the kind follows at once, the controllers are told of each change 5s later.",
		Licence: "Further cache and index updates may happen before a notification (client-go shared_informer).", Place: Watch,
	}
	LateWatch = &Fault{
		Name: "lateWatch", Doc: "Watch events of the kind come 5s late.",
		Licence: "Informers deliver late, without bound (client-go shared_informer).", Place: Watch,
	}
	RecreateAsUpdate = &Fault{
		Name: "recreateAsUpdate", Doc: "Watch events of the kind come 5s late; an object deleted and made again meanwhile shows as one update with a new UID.",
		Licence: "Handlers may be told of an update from the old object to the new one (client-go shared_informer).", Place: Watch,
	}
	Relist = &Fault{
		Name: "relist", Doc: "The watch of the kind breaks with 410 and is listed anew 5s later: what is gone shows as its last known state, the rest as one update.",
		Licence: "A watch can expire at any time (410 Gone); the reflector lists anew (client-go reflector, DeletedFinalStateUnknown).", Place: Watch,
	}
	SkippedStates = &Fault{
		Name: "skippedStates", Doc: "Watch events of the kind come 5s late; of several states of one object only the last shows.",
		Licence: "Some states may never appear in the cache (client-go shared_informer).", Place: Watch,
	}
	StaleCache = &Fault{
		Name: "staleCache", Doc: "Watch events of the kind are held back until it is healed or the process ends.",
		Licence: "Informers deliver late, without bound (client-go shared_informer).", Place: Watch,
	}
)

// OldCache is the fault of a start.
var OldCache = &Fault{
	Name: "oldCache", Doc: "The next process to start lists every kind as it was 10s before, then its watches catch up; live reads are current.",
	Licence: "A list with resourceVersion 0 from the watch cache of a lagging API server.", Place: Start,
}
