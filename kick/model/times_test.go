package model_test

import (
	"testing"
	"time"

	"github.com/corewire/kick/kick/model"
)

func TestPatience(t *testing.T) {
	tests := map[string]struct{ waited, least, most, want time.Duration }{
		"not at all":                   {0, 10 * time.Second, time.Minute, 10 * time.Second},
		"a clock that was set back":    {-time.Hour, 10 * time.Second, time.Minute, 10 * time.Second},
		"a while":                      {3 * time.Minute, 10 * time.Second, time.Minute, 30 * time.Second},
		"for days":                     {48 * time.Hour, 10 * time.Second, time.Minute, time.Minute},
		"the most is less than enough": {48 * time.Hour, 10 * time.Second, time.Second, 10 * time.Second},
	}
	for name, tt := range tests {
		if got := model.Patience(tt.waited, tt.least, tt.most); got != tt.want {
			t.Errorf("%s: Patience(%v, %v, %v) = %v, want %v", name, tt.waited, tt.least, tt.most, got, tt.want)
		}
	}
}
