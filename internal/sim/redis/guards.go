package redis

import "github.com/yuin/gopher-lua/ast"

// Two operations of Lua can take any amount of memory in one instruction: joining texts with .., and giving a table an
// element far beyond its last, up to which gopher-lua fills it. Before a script is compiled both are replaced by calls
// of functions that charge the memory to the script. No name in a script can be that of one of these functions.
const (
	concatGuard = ".."
	indexGuard  = "[]"
)

// guard is the call of a guard in place of an expression.
func guard(name string, place ast.Expr, args ...ast.Expr) ast.Expr {
	f := &ast.IdentExpr{Value: name}
	call := &ast.FuncCallExpr{Func: f, Args: args, AdjustRet: true}
	for _, e := range []ast.Expr{f, call} {
		e.SetLine(place.Line())
		e.SetLastLine(place.LastLine())
	}
	switch last := args[len(args)-1].(type) { // it is one value, however many it may stand for
	case *ast.FuncCallExpr:
		last.AdjustRet = true
	case *ast.Comma3Expr:
		last.AdjustRet = true
	}
	return call
}

func guardBlock(block []ast.Stmt) {
	for _, s := range block {
		guardStatement(s)
	}
}

func guardStatement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		guardAll(s.Lhs)
		guardAll(s.Rhs)
		for _, left := range s.Lhs {
			guardTarget(left)
		}
	case *ast.LocalAssignStmt:
		guardAll(s.Exprs)
	case *ast.FuncCallStmt:
		guarded(&s.Expr)
	case *ast.DoBlockStmt:
		guardBlock(s.Stmts)
	case *ast.WhileStmt:
		guarded(&s.Condition)
		guardBlock(s.Stmts)
	case *ast.RepeatStmt:
		guardBlock(s.Stmts)
		guarded(&s.Condition)
	case *ast.IfStmt:
		guarded(&s.Condition)
		guardBlock(s.Then)
		guardBlock(s.Else)
	case *ast.NumberForStmt:
		guarded(&s.Init)
		guarded(&s.Limit)
		guarded(&s.Step)
		guardBlock(s.Stmts)
	case *ast.GenericForStmt:
		guardAll(s.Exprs)
		guardBlock(s.Stmts)
	case *ast.FuncDefStmt:
		guardBlock(s.Func.Stmts)
	case *ast.ReturnStmt:
		guardAll(s.Exprs)
	}
}

func guardAll(list []ast.Expr) {
	for i := range list {
		guarded(&list[i])
	}
}

// guarded puts guards into an expression, or in its place.
func guarded(place *ast.Expr) {
	switch e := (*place).(type) {
	case *ast.StringConcatOpExpr:
		guarded(&e.Lhs)
		guarded(&e.Rhs)
		*place = guard(concatGuard, e, e.Lhs, e.Rhs)
	case *ast.AttrGetExpr:
		guarded(&e.Object)
		guarded(&e.Key)
	case *ast.TableExpr:
		for _, f := range e.Fields {
			guarded(&f.Key)
			guarded(&f.Value)
			if f.Key != nil && !isText(f.Key) {
				f.Key = guard(indexGuard, f.Key, &ast.NilExpr{}, f.Key)
			}
		}
	case *ast.FuncCallExpr:
		guarded(&e.Func)
		guarded(&e.Receiver)
		guardAll(e.Args)
	case *ast.LogicalOpExpr:
		guarded(&e.Lhs)
		guarded(&e.Rhs)
	case *ast.RelationalOpExpr:
		guarded(&e.Lhs)
		guarded(&e.Rhs)
	case *ast.ArithmeticOpExpr:
		guarded(&e.Lhs)
		guarded(&e.Rhs)
	case *ast.UnaryMinusOpExpr:
		guarded(&e.Expr)
	case *ast.UnaryNotOpExpr:
		guarded(&e.Expr)
	case *ast.UnaryLenOpExpr:
		guarded(&e.Expr)
	case *ast.FunctionExpr:
		guardBlock(e.Stmts)
	}
}

// guardTarget guards the key of an element that is assigned to. The guard is told of the table, unless looking at it twice could
// do something.
func guardTarget(left ast.Expr) {
	e, ok := left.(*ast.AttrGetExpr)
	if !ok || isText(e.Key) {
		return
	}
	var table ast.Expr = &ast.NilExpr{}
	if _, plain := e.Object.(*ast.IdentExpr); plain {
		table = e.Object
	}
	e.Key = guard(indexGuard, e.Key, table, e.Key)
}

func isText(e ast.Expr) bool {
	_, ok := e.(*ast.StringExpr)
	return ok
}
