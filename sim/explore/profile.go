package explore

import (
	"fmt"
	"strings"
)

// Profile is how a campaign makes its schedules.
type Profile string

// The profiles.
const (
	ProfileMix        Profile = "mix"        // crash over the scenarios given, then swarm and pct by turns
	ProfileSwarm      Profile = "swarm"      // seeds that deviate often, in ways drawn for each
	ProfilePCT        Profile = "pct"        // seeds that deviate at few points drawn for each
	ProfileExhaustive Profile = "exhaustive" // every schedule with one deviation, then with two, and so on
	ProfileCrash      Profile = "crash"      // the operator dies at every write, landed and lost
)

// Profiles are all profiles, the default one first.
var Profiles = []Profile{ProfileMix, ProfileSwarm, ProfilePCT, ProfileExhaustive, ProfileCrash}

// ParseProfile reads the name of a profile.
func ParseProfile(name string) (Profile, error) {
	var names []string
	for _, p := range Profiles {
		if string(p) == name {
			return p, nil
		}
		names = append(names, string(p))
	}
	return "", fmt.Errorf("unknown profile %q: %s", name, strings.Join(names, ", "))
}
