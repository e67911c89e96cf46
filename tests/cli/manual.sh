#!/usr/bin/env bash
# Manual pages and completions of shells other than bash (help.sh has that one): all commands and options are in them.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# ---- manual pages ----

mkdir man
run help --man man
expect_status 0
expect_empty out
expect_empty err
"$HEDDLE" completion words '' '' >commands
while read -r command; do
    [[ -s man/heddle-$command.1 ]] || fail "there is no page heddle-$command.1"
    expect_line man/heddle.1 "heddle\\\\-$command\$"
    sed 's/\\-/-/g; s/\\fR//g' "man/heddle-$command.1" >plain
    for option in $("$HEDDLE" completion words "$command" '' | grep '^--'); do
        [[ $command == @(bench|trace) ]] || expect_line plain "fB$option( |\$)"
    done
done <commands
expect_same 'pages of commands of trace' 6 "$(find man -name "heddle-trace-*.1" | wc -l)"
if has man 'manual pages in man'; then
    for page in man/*.1; do
        man -l --warnings=w "$page" >text 2>warnings </dev/null || fail "man refuses $page"
        [[ ! -s warnings ]] || fail "man: $page: $(head -n 3 warnings)"
    done
    MANWIDTH=100 man -l man/heddle-run.1 2>/dev/null | sed 's/.\x08//g' >text
    expect_line text '^ +--system NAME.FILE$'
fi
if has mandoc 'manual pages in mandoc'; then
    mandoc -Tlint -W error man/*.1 >lint || fail "mandoc: $(head -n 3 lint)"
fi
refuses 'help: unexpected word .three' help one two three
refuses "help --man: unexpected word 'run'" help --man man run
refuses 'no/such' help --man no/such

# ---- zsh ----

run completion zsh
expect_status 0
cp out _heddle
if has zsh 'completion of zsh'; then
    zsh -n _heddle || fail 'the script is no zsh'
    cat >ask <<'END'
compdef() { :; }
_describe() { print -l -- "${lines[@]}"; }
source ./_heddle
words=($HEDDLE "$@")
CURRENT=$(($# + 1))
_heddle
END
    export HEDDLE
    zsh -f ask be >found
    expect_line found '^doctor:show what this host has'
    zsh -f ask bench phold --is >found
    expect_line found '^--threads:worker threads'
fi

# ---- fish ----

run completion fish
expect_status 0
cp out heddle.fish
if has fish 'completion of fish'; then
    fish -n heddle.fish || fail 'the script is no fish'
    export HOME=$folder XDG_DATA_HOME=$folder/share XDG_CONFIG_HOME=$folder/config
    mkdir -p bin share config
    ln -s "$HEDDLE" bin/heddle
    # shellcheck disable=SC2016 # fish's own
    PATH=$folder/bin:$PATH fish -c 'source heddle.fish; complete -C "heddle be"' >found 2>err
    expect_line found '^bench'
    PATH=$folder/bin:$PATH fish -c 'source heddle.fish; complete -C "heddle run --sys"' >found 2>err
    expect_line found '^--system.*the system to simulate'
fi
refuses 'completion: expected the name of the shell: bash, zsh or fish' completion tcsh
