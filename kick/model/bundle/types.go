package bundle

import (
	"bytes"
	"maps"
	"time"

	"github.com/corewire/kick/kick/model"
)

// Kind is the kind of a bundle.
const Kind = "ConfigBundle"

// keyMessage is the key that spec.message stands for.
const keyMessage = "message"

// Content is what a ConfigMap holds.
type Content struct {
	Data      map[string]string
	Binary    map[string][]byte
	Immutable bool
}

// Equal compares key by key; an empty map is no map.
func (c Content) Equal(o Content) bool {
	return c.Immutable == o.Immutable && c.samePayload(o)
}

func (c Content) samePayload(o Content) bool {
	return maps.Equal(c.Data, o.Data) && maps.EqualFunc(c.Binary, o.Binary, bytes.Equal)
}

// Spec is a declaration in the form in which it was written.
type Spec struct {
	Message   *string
	Data      map[string]string
	Binary    map[string][]byte
	Immutable bool
}

// Content is what the ConfigMap is to hold.
func (s Spec) Content() Content {
	c := Content{Data: s.Data, Binary: s.Binary, Immutable: s.Immutable}
	if s.Message != nil {
		c.Data = maps.Clone(s.Data)
		if c.Data == nil {
			c.Data = map[string]string{}
		}
		c.Data[keyMessage] = *s.Message
	}
	return c
}

// specOf writes a content down as a declaration.
func specOf(c Content) Spec {
	s := Spec{Data: maps.Clone(c.Data), Binary: c.Binary, Immutable: c.Immutable}
	if message, ok := s.Data[keyMessage]; ok {
		s.Message = &message
		delete(s.Data, keyMessage)
	}
	return s
}

// Meta is the metadata that a bundle hands on to its ConfigMap.
type Meta struct{ Labels, Annotations map[string]string }

// Bundle is a ConfigBundle in plain values.
type Bundle struct {
	ID           model.Key
	UID, Version string
	Generation   int64
	Deleting     bool
	Spec         Spec
	Meta         Meta // what is handed on, see Copied
	Status       Status
}

// Owner is an owner reference.
type Owner struct {
	APIVersion, Kind, Name, UID string
	Controller                  bool
}

// ConfigMap is what stands under the bundle's name, read live.
type ConfigMap struct {
	UID, Version string
	Deleting     bool
	Content      Content
	Meta         Meta
	Owners       []Owner
	Owned        Owned
	Heals        Heals
}

// Owned are the fields of a ConfigMap that KICK applied and nobody took over since.
type Owned struct {
	Labels, Annotations, Data, Binary map[string]bool
	Immutable                         bool
}

// Heals says how often a ConfigMap was put right and when last. The ConfigMap carries
// it, so that it is written together with what it tells of.
type Heals struct {
	Count int64
	Last  time.Time // zero: never
}

// later is the one that tells of more.
func (h Heals) later(o Heals) Heals {
	if o.Count > h.Count {
		return o
	}
	return h
}

// next counts one more.
func (h Heals) next(now time.Time) Heals { return Heals{Count: h.Count + 1, Last: now} }

// Record is what an immutable bundle declared when it was accepted.
type Record struct{ Spec Spec }

// RecordName is the name of the ControllerRevision that holds it: no later bundle of
// the same name can find the record of an earlier one.
func RecordName(uid string) string { return "configbundle-" + uid }

// Snapshot is everything a decision depends on.
type Snapshot struct {
	Bundle    *Bundle    // nil: it does not exist
	ConfigMap *ConfigMap // nil: there is none of that name
	Record    *Record    // nil: nothing is on record
}

// Desired is the ConfigMap as KICK applies it.
type Desired struct {
	Content Content
	Meta    Meta
	Heals   Heals
}

// Condition is one condition of a status.
type Condition struct {
	True    bool
	Reason  Reason
	Message string
	Since   time.Time // of True; zero: not judged yet
}

// Status is the status of a bundle.
type Status struct {
	Generation int64
	Metadata   string // of which labels and annotations, see Fingerprint
	ConfigMap  string // UID; empty: none was created yet
	Immutable  bool   // the declaration is on record
	Heals      Heals
	Ready      Condition
	Drifted    Condition
}
