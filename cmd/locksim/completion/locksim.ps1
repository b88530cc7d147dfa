# Completion of locksim for PowerShell: locksim completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName locksim -ScriptBlock {
	param($word, $ast, $position)
	$line = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $position -or $_.Extent.Text -ne $word } |
		Where-Object { $_.Extent.StartOffset -lt $position } | ForEach-Object { $_.Extent.Text })
	& $line[0] completion next "--word=$word" -- @line 2>$null | Where-Object { $_ -ne ':files' } | ForEach-Object {
		$name, $about = $_ -split "`t", 2
		if (-not $about) { $about = $name }
		[System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterValue', $about)
	}
}
