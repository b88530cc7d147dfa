package harness_test
import ("testing";"time";"fmt")
func TestZZ(t *testing.T){
 b:=&bench{t:t}; defer b.runner.Close()
 for _,T:=range []time.Duration{4*second,6*second,9*second}{
 n:=0; var worst time.Duration=-time.Hour
 for seed:=range uint64(1500){ l:=b.cutFollower(seed,T,true); if l.next<l.disconnected {n++}; worst=max(worst,l.disconnected-l.next)}
 fmt.Println(T,n,worst)}
}
