# SPDX-License-Identifier: BSD-3-Clause
# The functions of the completion. tools/pages/completion.py puts its tables behind them.
# shellcheck shell=bash disable=SC2154,SC2086 # names that callers have; lists of words

# Passes on the lines that a shell takes as they are. What others answer may be text for the shell, such as $(...).
_hopsight_plain() {
	grep -xE '[[:alnum:]_.:/%@+-]+'
}

# Prints the values of one member of an answer.
_hopsight_values_of() { # MEMBER
	grep -oE "\"$1\": *(\"[^\"]*\"|[0-9]+)" | sed 's/^"[^"]*": *//; s/"//g' | _hopsight_plain | sort -u
}

# Asks the node that the line names.
_hopsight_ask() { # MEMBER VERB...
	local member=$1
	shift
	"$program" "${connection[@]}" --timeout 2 --json "$@" 2>/dev/null | _hopsight_values_of "$member"
}

# Prints the words that a value of a kind may be.
_hopsight_kind() {
	case $1 in
	=*) printf '%s\n' ${1#=} ;;
	rule) _hopsight_ask ns_id rule list ;;
	port) _hopsight_ask name ports ;;
	route) _hopsight_ask prefix route list ;;
	neighbour) _hopsight_ask addr neighbour list ;;
	node) _hopsight_ask name node ;;
	endpoint) compgen -G '/run/hopsight*/*.api' | sed 's,^,ipc://,' | _hopsight_plain ;;
	scenario) "$program" list --json 2>/dev/null | _hopsight_values_of name ;;
	case) "$program" --list 2>/dev/null | awk '{print $1}' | _hopsight_plain ;;
	key) printf '%s=\n' ${_hopsight_keys[$subject]} ;;
	esac
}

# Adds the words of standard input, one a line, that begin as what is typed. The shell reads none of them: compgen -W
# would run what stands in $(...).
_hopsight_put() {
	local one
	while IFS= read -r one; do
		[[ $one != "$current"* ]] || COMPREPLY+=("$one")
	done
}

# Puts into COMPREPLY what a value of a kind may be, behind what stands before it in the same word.
_hopsight_value() { # KIND
	[[ $1 != endpoint || $current != /* ]] || set -- file # the path of a socket
	case $1 in
	file | scenario)
		compopt -o filenames 2>/dev/null
		mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current")
		;;&
	folder)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		;;
	file | none) ;;
	key)
		compopt -o nospace 2>/dev/null
		if [[ $current == *=* ]]; then
			prefix=${current%%=*}= current=${current#*=}
			_hopsight_value "${_hopsight_values[$subject ${prefix%=}]-none}"
			return
		fi
		;;&
	*) _hopsight_put < <(_hopsight_kind "$1") ;;
	esac
}

# Returns the kind of an option's value; nothing for an option without one.
_hopsight_option() { # OPTION
	printf '%s' "${_hopsight_values[$subject $1]-${_hopsight_values[$name $1]-}}"
}

# Bash breaks words at characters such as : and =, and completes what stands behind the last of them.
_hopsight_trim() {
	local whole=${words[-1]} breaks=${COMP_WORDBREAKS//[!:=]/} kept
	[ -n "$breaks" ] || breaks=$'\n'
	kept=${whole%"${whole##*["$breaks"]}"}
	local i
	for i in "${!COMPREPLY[@]}"; do
		COMPREPLY[i]=$prefix${COMPREPLY[i]}
		COMPREPLY[i]=${COMPREPLY[i]#"$kept"}
	done
}

_hopsight() {
	local line=${COMP_LINE:0:COMP_POINT} words program name subject current prefix='' word kind i n=0
	local connection=() kinds
	read -ra words <<<"$line"
	[[ $line != *[[:space:]] ]] || words+=('')
	program=${words[0]/#\~/$HOME} name=${words[0]##*/} current=${words[-1]} subject=$name
	COMPREPLY=()
	for ((i = 1; i < ${#words[@]} - 1; i++)); do
		word=${words[i]}
		if [[ $word == -* ]]; then
			kind=$(_hopsight_option "$word")
			case $word in
			-c | --connect | --key | --server-key) connection+=("$word" "${words[i + 1]}") ;;
			-c?* | --connect=* | --key=* | --server-key=*) connection+=("$word") ;;
			esac
			[ -n "$kind" ] || continue
			((++i))
			if ((i == ${#words[@]} - 1)); then
				_hopsight_value "$kind"
				_hopsight_trim
				return
			fi
		elif [[ " ${_hopsight_words[$subject]-} " == *" $word "* ]]; then
			subject+=" $word"
		else
			((++n))
		fi
	done
	if [[ $current == --*=* ]]; then
		prefix=${current%%=*}= current=${current#*=}
		_hopsight_value "$(_hopsight_option "${prefix%=}")"
	elif [[ $current == -* ]]; then
		[ "$subject" = "$name" ] || word=" ${_hopsight_options[$subject]-}"
		mapfile -t COMPREPLY < <(compgen -W "${_hopsight_options[$name]}${word-}" -- "$current")
	elif [ -n "${_hopsight_words[$subject]-}" ]; then
		mapfile -t COMPREPLY < <(compgen -W "${_hopsight_words[$subject]}" -- "$current")
	else
		read -ra kinds <<<"${_hopsight_arguments[$subject]-}"
		((n < ${#kinds[@]})) || n=$((${#kinds[@]} - 1)) # the last one may come again
		((n < 0)) || _hopsight_value "${kinds[n]}"
	fi
	_hopsight_trim
}
