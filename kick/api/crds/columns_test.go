package crds_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
)

// What kubectl get -o wide prints of an object that has everything. "age" stands for a time span.
func TestColumns(t *testing.T) {
	const at = "\"2020-03-01T12:00:00.000000Z\""
	tests := map[string]struct{ object, want string }{
		"KickPolicy": {
			object: "spec: {suspend: true, dryRun: false}, status: {matchedWorkloads: 3, blockedWorkloads: 0, schedule: {open: false, nextEdge: \"2026-03-02T01:00:00Z\"}, conditions: [" +
				"{type: Other, status: \"False\", reason: Wrong}, {type: Ready, status: \"True\", reason: Accepted}]}",
			want: "Ready=True Matched=3 Blocked=0 Suspended=true DryRun*=false Open*=false Next Edge*=2026-03-02T01:00:00Z Reason*=Accepted Age=age",
		},
		"KickRequest": {
			object: "spec: {" + web + "}, status: {phase: WaitingForGate, latestObservedDependencyChange: " + at +
				", gate: {reason: OutsideSchedule, requeueAt: \"2096-03-01T12:00:00.000000Z\"}, currentRollout: {startedAt: " + at +
				"}, conditions: [{type: Completed, status: Unknown, reason: OutsideSchedule, message: opens at two}]}",
			want: "Kind=Deployment Target=web Phase=WaitingForGate Reason=OutsideSchedule Changed=age Started*=age" +
				" Next Try*=2096-03-01T12:00:00.000000Z Message*=opens at two Age=age",
		},
		"NotificationPolicy": {
			object: "spec: {suspend: false}, status: {delivered: 7, failed: 0, lastDeliveryTime: \"2020-03-01T12:00:00Z\", conditions: [" +
				"{type: Ready, status: \"False\", reason: Refused}]}",
			want: "Ready=False Delivered=7 Failed=0 Last=age Suspended*=false Reason*=Refused Age=age",
		},
		"ConfigBundle": {
			object: "spec: {message: a, immutable: true}, status: {heals: 3, conditions: [{type: Ready, status: \"False\", reason: NameTaken}]}",
			want:   "Ready=False Immutable=true Heals=3 Reason*=NameTaken Age=age",
		},
		"SourceObservation": {
			object: "spec: {" + secretDB + ", history: [{fingerprint: old, observed: wrong}, {fingerprint: new, observed: " + at + "}]}",
			want:   "Kind=Secret Source=db Observed=age Age=age",
		},
	}
	for _, definition := range definitions(t) {
		kind := definition.Spec.Names.Kind
		t.Run(kind, func(t *testing.T) {
			tt, ok := tests[kind]
			if !ok {
				t.Fatalf("no test for the columns of %s", kind)
			}
			if got := printed(t, definition, object(kind, tt.object)); got != tt.want {
				t.Errorf("columns\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A digest is nobody's business, sealed or not.
func TestNoColumnShowsAFingerprint(t *testing.T) {
	for _, definition := range definitions(t) {
		for _, column := range definition.Spec.Versions[0].AdditionalPrinterColumns {
			if path := strings.ToLower(column.JSONPath); strings.Contains(path, "fingerprint") || strings.Contains(path, "keynames") {
				t.Errorf("%s: column %s shows %s", definition.Name, column.Name, column.JSONPath)
			}
		}
	}
}

// printed renders an object through the API server's own printer; a star marks the columns of -o wide.
func printed(t *testing.T, definition *apiextensionsv1.CustomResourceDefinition, document string) string {
	t.Helper()
	columns := definition.Spec.Versions[0].AdditionalPrinterColumns
	convertor, err := tableconvertor.New(columns)
	if err != nil {
		t.Fatal(err)
	}
	printee, err := parse(strings.Replace(document, "name: test", "name: test, creationTimestamp: \"2020-03-01T12:00:00Z\"", 1))
	if err != nil {
		t.Fatal(err)
	}
	table, err := convertor.ConvertToTable(t.Context(), printee, nil)
	if err != nil {
		t.Fatal(err)
	}
	age := regexp.MustCompile(`^\d+[dy](\d+d)?$`)
	var cells []string
	for i, column := range columns {
		cell := fmt.Sprint(table.Rows[0].Cells[i+1]) // the first cell is the name
		if column.Type == "date" {
			cell = age.ReplaceAllString(cell, "age")
		}
		name := column.Name
		if column.Priority > 0 {
			name += "*"
		}
		cells = append(cells, name+"="+cell)
	}
	return strings.Join(cells, " ")
}
