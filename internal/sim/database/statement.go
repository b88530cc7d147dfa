package database

// verb is what a statement does.
type verb uint8

const (
	begin verb = iota
	commit
	rollback
	set        // a variable of the session
	compute    // SELECT without FROM
	selectRows // SELECT with FROM
	insert
	update
	remove
)

// locking is what a SELECT does about the rows that it finds.
type locking uint8

const (
	plain locking = iota
	forUpdate
	noWait
	skipLocked
)

// statement is a parsed statement. Each verb uses the fields that name it.
type statement struct {
	verb     verb
	table    string
	list     []expression // compute, selectRows; of the others what they return of each row
	where    expression   // selectRows, update, remove; nil: all rows
	locking  locking      // selectRows
	columns  []string     // insert, update: what is given values
	values   []expression // insert, update, set
	ignore   bool         // insert: a row that there is already is no error
	instead  *statement   // insert: what to do to a row that there is already; nil: nothing
	variable string       // set
	params   int          // how many arguments it needs
	mentions []string     // the columns that its expressions name

	ambiguous string // a column of which it does not say whether it is the row's that is there, or the new one's; "": none
}

// expression is what has a value, for a row if it names columns.
type expression interface {
	eval(x *execution, of *table, values []Value) (Value, error)
}

type (
	literal  struct{ value Value }
	argument struct{ index int }
	column   struct{ name string }
	isNull   struct {
		of  expression
		not bool
	}
	interval struct {
		of   expression
		unit int64
	}
	binary struct {
		op          string
		left, right expression
	}
	call struct {
		name string
		args []expression
	}
)

func (l literal) eval(*execution, *table, []Value) (Value, error) { return l.value, nil }

func (a argument) eval(x *execution, _ *table, _ []Value) (Value, error) {
	return x.request.Args[a.index], nil
}

func (c column) eval(_ *execution, of *table, values []Value) (Value, error) {
	if values == nil { // INSERT: there is no row yet
		return Value{}, nil
	}
	return values[of.column(c.name)], nil
}

func (n isNull) eval(x *execution, of *table, values []Value) (Value, error) {
	v, err := n.of.eval(x, of, values)
	return truth(v.Null() != n.not), err
}

func (i interval) eval(x *execution, of *table, values []Value) (Value, error) {
	v, err := i.of.eval(x, of, values)
	return Value{Kind: KindInterval, Int: v.Int * i.unit}, err
}

func (b binary) eval(x *execution, of *table, values []Value) (Value, error) {
	left, err := b.left.eval(x, of, values)
	if err != nil {
		return Value{}, err
	}
	right, err := b.right.eval(x, of, values)
	if err != nil {
		return Value{}, err
	}
	switch b.op {
	case "and":
		return truth(left.holds() && right.holds()), nil
	case "or":
		return truth(left.holds() || right.holds()), nil
	}
	if left.Null() || right.Null() {
		return Value{}, nil
	}
	return b.apply(left, right), nil
}

// apply computes an operator of two values that are not NULL.
func (b binary) apply(left, right Value) Value {
	order := compare(left, right)
	switch b.op {
	case "=":
		return truth(order == 0)
	case "<>", "!=":
		return truth(order != 0)
	case "<":
		return truth(order < 0)
	case "<=":
		return truth(order <= 0)
	case ">":
		return truth(order > 0)
	case ">=":
		return truth(order >= 0)
	case "*":
		return Value{Kind: max(left.Kind, right.Kind), Int: left.Int * right.Int}
	case "-":
		right.Int = -right.Int
	}
	kind := left.Kind // a moment and a length of time make a moment
	if right.Kind == KindTime {
		kind = KindTime
	}
	return Value{Kind: kind, Int: left.Int + right.Int}
}

func (c call) eval(x *execution, of *table, values []Value) (Value, error) {
	args := make([]Value, len(c.args))
	for i, arg := range c.args {
		v, err := arg.eval(x, of, values)
		if err != nil {
			return Value{}, err
		}
		args[i] = v
	}
	return x.call(c.name, args)
}

// conjunct finds the value that a condition demands of a column, if it does so in a part that must be met.
func conjunct(where expression, name string) expression {
	b, ok := where.(binary)
	if !ok {
		return nil
	}
	switch b.op {
	case "and":
		if found := conjunct(b.left, name); found != nil {
			return found
		}
		return conjunct(b.right, name)
	case "=":
		if b.left == (column{name}) {
			return b.right
		}
	}
	return nil
}
