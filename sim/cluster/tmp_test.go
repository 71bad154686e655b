package cluster_test
import ("testing";"github.com/google/go-cmp/cmp"
 "k8s.io/apimachinery/pkg/types"
	"github.com/corewire/kick/sim/cluster"
 "time")
func TestTmp(t *testing.T){
	var r []any
	for _, data := range []string{`{"metadata":{"labels":{"a":"b"}}}`,`{"metadata":{"labels":{"a":"b","c":null}}}`} {
			s := cluster.New(cluster.Options{Now: func() time.Time { return start }, NamespaceAutoCreate: true, UIDs: func() types.UID { return "u" }})
			must(t, s.Client("ann").Create(ctx, deployment()))
			out, err := s.Patch(deploymentGK, webKey, types.MergePatchType, []byte(data), cluster.WriteOptions{Manager: "bob"})
			must(t,err)
			r=append(r,out)
	}
	t.Log(cmp.Diff(r[0],r[1]))
}
