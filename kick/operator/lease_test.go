package operator

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/model"
)

var shopDB = model.Key{Kind: "Secret", Namespace: "shop", Name: "db"}

func at(second int64) time.Time { return time.Unix(second, 0).UTC() }

// TestLeaseSaysWhatIsRecorded: each write of the lock says anew until when all that
// its holder saw is on record, and leaves everything else in the lease alone.
func TestLeaseSaysWhatIsRecorded(t *testing.T) {
	api := &leaseAPI{now: at(1000)}
	s := ledger.NewSightings(at(300))
	lock := api.lock("one", s)
	s.Met(shopDB, at(50), at(900), true)
	if err := lock.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "one"}); err != nil {
		t.Fatal(err)
	}
	api.says(t, "300")

	api.lease.Labels["team"] = "platform"
	renew := func(second int64) {
		t.Helper()
		api.now = at(second)
		if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "one"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := lock.Get(t.Context()); err != nil { // its own lease tells a holder nothing
		t.Fatal(err)
	}
	renew(1002)
	api.says(t, "300")
	s.Watched(shopDB)
	s.Recorded(shopDB)
	renew(1004)
	api.says(t, "1004")
	if api.lease.Labels["team"] != "platform" || *api.lease.Spec.HolderIdentity != "one" {
		t.Errorf("the lease became %+v", api.lease)
	}
	s.Met(shopDB, at(-5), at(1005), false)
	renew(1006)
	api.says(t, "0")
	s.Watched(shopDB)
	s.Recorded(shopDB)
	before := time.Now().Unix()
	api.now = time.Time{} // no answer had a date
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{}); err != nil {
		t.Fatal(err)
	}
	if got, err := strconv.ParseInt(api.lease.Labels[RecordedUntilLabel], 10, 64); err != nil || got < before || got > time.Now().Unix() {
		t.Errorf("without the API server's clock it says %d (%v), want KICK's", got, err)
	}
}

// TestHeirKnowsWhatWasRecorded: who takes the lease over goes on from what the leader
// before it had on record, not from when it began to stand by.
func TestHeirKnowsWhatWasRecorded(t *testing.T) {
	api := &leaseAPI{now: at(1000)}
	if err := api.lock("one", ledger.NewSightings(at(300))).Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "one"}); err != nil {
		t.Fatal(err)
	}
	s := ledger.NewSightings(at(400))
	s.Met(shopDB, at(50), at(410), true)
	heir := api.lock("two", s)
	if _, _, err := heir.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	api.now = at(1020)
	if err := heir.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "two"}); err != nil {
		t.Fatal(err)
	}
	api.says(t, "1000")
}

// TestLastAliveOfALease: the label counts as far as the lease was renewed since; what
// is no label of ours counts for nothing.
//
// Proves: KICK-FEAT-027.
func TestLastAliveOfALease(t *testing.T) {
	for name, tt := range map[string]struct {
		labels map[string]string
		times  []int64
		want   time.Time
	}{
		"never held":                  {nil, nil, time.Time{}},
		"an older version held it":    {nil, []int64{500, 700, 600}, at(700)},
		"more was seen than recorded": {map[string]string{RecordedUntilLabel: "450"}, []int64{700}, at(450)},
		"nothing is on record":        {map[string]string{RecordedUntilLabel: "0"}, []int64{700}, at(0)},
		"a clock ran ahead":           {map[string]string{RecordedUntilLabel: "900"}, []int64{700}, at(700)},
		"no number":                   {map[string]string{RecordedUntilLabel: "soon"}, []int64{700}, at(700)},
		"no number that fits":         {map[string]string{RecordedUntilLabel: "99999999999999999999"}, []int64{700}, at(700)},
	} {
		t.Run(name, func(t *testing.T) {
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Labels: tt.labels}}
			for _, second := range tt.times {
				lease.ManagedFields = append(lease.ManagedFields, metav1.ManagedFieldsEntry{Time: &metav1.Time{Time: at(second)}})
			}
			if got := recordedUntil(lease); !got.Equal(tt.want) {
				t.Errorf("alive until %s, want %s", got, tt.want)
			}
		})
	}
}

// TestLock: the lock is the one that controller-runtime would make.
func TestLock(t *testing.T) {
	config := &rest.Config{Host: "https://nowhere.invalid", UserAgent: "kick"}
	o := NewOptions()
	o.Namespace, o.LeaderElect, o.RenewDeadline = "kick-here", true, 10*time.Second
	lock, end, err := newLock(config, o, ledger.NewSightings(time.Time{}), &serverClock{})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if lock.Describe() != "kick-here/"+LeaseName || !strings.HasPrefix(lock.Identity(), host+"_") {
		t.Errorf("lock %s of %s", lock.Describe(), lock.Identity())
	}
	if config.Timeout != 0 || config.UserAgent != "kick" {
		t.Errorf("the caller's config became %+v", config)
	}
	o.LeaderElect = false
	if lock, end, err := newLock(config, o, nil, nil); lock != nil || end == nil || err != nil {
		t.Errorf("without leader election: %v, %v, want no lock", lock, err)
	}
}

// leaseAPI keeps one lease as the API server does.
type leaseAPI struct {
	coordinationclient.LeaseInterface
	now   time.Time
	lease *coordinationv1.Lease
}

func (a *leaseAPI) lock(identity string, s *ledger.Sightings) resourcelock.Interface {
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: "kick-system", Name: LeaseName},
		Client:     labelling{a, claimant{identity, s, func() time.Time { return a.now }}},
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}
}

func (a *leaseAPI) says(t *testing.T, want string) {
	t.Helper()
	if got := a.lease.Labels[RecordedUntilLabel]; got != want {
		t.Errorf("the lease says %q, want %q", got, want)
	}
}

// Leases is the API for one namespace.
func (a *leaseAPI) Leases(string) coordinationclient.LeaseInterface { return a }

// Get reads the lease.
func (a *leaseAPI) Get(_ context.Context, name string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	if a.lease == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}, name)
	}
	return a.lease.DeepCopy(), nil
}

// Create makes the lease.
func (a *leaseAPI) Create(_ context.Context, lease *coordinationv1.Lease, _ metav1.CreateOptions) (*coordinationv1.Lease, error) {
	a.lease = lease.DeepCopy()
	a.lease.ManagedFields = []metav1.ManagedFieldsEntry{{Time: &metav1.Time{Time: a.now}}}
	return a.lease.DeepCopy(), nil
}

// Update replaces the lease.
func (a *leaseAPI) Update(ctx context.Context, lease *coordinationv1.Lease, _ metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	return a.Create(ctx, lease, metav1.CreateOptions{})
}
