package explain

import (
	"fmt"
	"strings"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/observation"
	"github.com/corewire/kick/kick/model/rotation"
)

// Flapping is the sentence about a source that began to flap.
func Flapping(source model.Key) string {
	return fmt.Sprintf("%s changed %d times within %v: something writes it over and over, and its readers restart as often as restart.minInterval allows. "+
		"Who writes it: kubectl -n %s get %s %s -o yaml --show-managed-fields.",
		source, observation.FlapChanges, observation.FlapWithin, source.Namespace, strings.ToLower(source.Kind), source.Name)
}

// ClassFlapping is the sentence about a SecretProviderClass that began to flap.
func ClassFlapping(class model.Key) string {
	return fmt.Sprintf("The versions of %s changed %d times in a row, each time the driver looked: its provider answers differently each time, or its secrets expire so soon. "+
		"KICK restarts its readers when it has come to rest, and for their other sources as ever. See kubectl -n %s get secretproviderclasspodstatuses -o yaml.",
		class, rotation.FlapRounds, class.Namespace)
}
