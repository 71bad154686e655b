package operator

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/ledger"
)

// LeaseName is the name of the leader election lease.
const LeaseName = "kick.corewire.io"

// RecordedUntilLabel on the lease tells until when all that its holder saw of sources
// is on record: the API server's clock, in whole seconds since 1970. Every renewal
// writes it (docs/decisions/0014).
const RecordedUntilLabel = "kick.corewire.io/recorded-until"

// lastAlive is until when all that any process saw is on record, as the lease says;
// zero if nobody ever held it.
func lastAlive(ctx context.Context, config *rest.Config, o Options) (time.Time, error) {
	live, err := client.New(config, client.Options{Scheme: NewScheme()})
	if err != nil {
		return time.Time{}, fmt.Errorf("connect to the API server: %w", err)
	}
	var lease coordinationv1.Lease
	err = live.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: LeaseName}, &lease)
	if client.IgnoreNotFound(err) != nil {
		return time.Time{}, fmt.Errorf("read lease %s/%s: %w", o.Namespace, LeaseName, err)
	}
	return recordedUntil(&lease), nil
}

// recordedUntil is what the label of a lease says, but no later than its last renewal
// as the API server dated it (spec.renewTime is another process's clock). Without a
// label that can be read, as an older version leaves it, it is that renewal.
func recordedUntil(lease *coordinationv1.Lease) time.Time {
	var renewed time.Time
	for _, owner := range lease.ManagedFields {
		if owner.Time != nil && owner.Time.After(renewed) {
			renewed = owner.Time.UTC()
		}
	}
	seconds, err := strconv.ParseInt(lease.Labels[RecordedUntilLabel], 10, 64)
	if until := time.Unix(seconds, 0).UTC(); err == nil && until.Before(renewed) {
		return until
	}
	return renewed
}

// newLock is the lock that controller-runtime makes by default, but for the label that
// its writes carry. end ends what tells of it; the manager has to have ended before.
func newLock(config *rest.Config, o Options, s *ledger.Sightings, server *serverClock) (lock resourcelock.Interface, end func(), err error) {
	if !o.LeaderElect {
		return nil, func() {}, nil
	}
	id, err := os.Hostname()
	if err != nil {
		return nil, nil, fmt.Errorf("name of this replica: %w", err)
	}
	id += "_" + string(uuid.NewUUID())
	config = rest.AddUserAgent(rest.CopyConfig(config), "leader-election")
	config.Timeout = max(o.RenewDeadline/2, time.Second) // a request that hangs must not cost the lease
	leases, err := coordinationclient.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the API server: %w", err)
	}
	core, err := coreclient.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the API server: %w", err)
	}
	events := record.NewBroadcaster()
	events.StartRecordingToSink(&coreclient.EventSinkImpl{Interface: core.Events("")})
	return &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: LeaseName},
		Client:    labelling{leases, claimant{id, s, server.Now}},
		LockConfig: resourcelock.ResourceLockConfig{
			Identity: id, EventRecorder: events.NewRecorder(NewScheme(), corev1.EventSource{Component: id}),
		},
	}, events.Shutdown, nil
}

// claimant is a process that wants the lease or has it.
type claimant struct {
	identity  string
	sightings *ledger.Sightings
	server    func() time.Time // the API server's clock; zero: not known
}

// label says in a lease until when all that this process saw is on record.
func (c claimant) label(lease *coordinationv1.Lease) {
	now := c.server()
	if now.IsZero() {
		now = time.Now()
	}
	if lease.Labels == nil {
		lease.Labels = map[string]string{}
	}
	until := max(c.sightings.RecordedUntil(now).Unix(), 0) // a label does not begin with a minus
	lease.Labels[RecordedUntilLabel] = strconv.FormatInt(until, 10)
}

// labelling is the client of a lock. The lock itself could set labels, too, but does
// not tell what it read, and a standby has to know what the leader before it said.
type labelling struct {
	coordinationclient.LeasesGetter
	claimant claimant
}

// Leases is the client for one namespace.
func (l labelling) Leases(namespace string) coordinationclient.LeaseInterface {
	return labelled{l.LeasesGetter.Leases(namespace), l.claimant}
}

type labelled struct {
	coordinationclient.LeaseInterface
	claimant claimant
}

// Get reads a lease, and notes what another holder said in it.
func (l labelled) Get(ctx context.Context, name string, o metav1.GetOptions) (*coordinationv1.Lease, error) {
	lease, err := l.LeaseInterface.Get(ctx, name, o)
	if err != nil {
		return nil, err
	}
	if holder := lease.Spec.HolderIdentity; holder == nil || *holder != l.claimant.identity {
		l.claimant.sightings.Inherited(recordedUntil(lease))
	}
	return lease, nil
}

// Create makes a lease.
func (l labelled) Create(ctx context.Context, lease *coordinationv1.Lease, o metav1.CreateOptions) (*coordinationv1.Lease, error) {
	l.claimant.label(lease)
	return l.LeaseInterface.Create(ctx, lease, o)
}

// Update renews, takes or releases a lease.
func (l labelled) Update(ctx context.Context, lease *coordinationv1.Lease, o metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	l.claimant.label(lease)
	return l.LeaseInterface.Update(ctx, lease, o)
}
