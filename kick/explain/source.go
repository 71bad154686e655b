package explain

import (
	"fmt"
	"strings"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/observation"
)

// Flapping is the sentence about a source that began to flap.
func Flapping(source model.Key) string {
	return fmt.Sprintf("%s changed %d times within %v: something writes it over and over, and its readers restart as often as restart.minInterval allows. "+
		"Who writes it: kubectl -n %s get %s %s -o yaml --show-managed-fields.",
		source, observation.FlapChanges, observation.FlapWithin, source.Namespace, strings.ToLower(source.Kind), source.Name)
}
