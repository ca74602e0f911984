# Shared by the scripts here; sourced, not run.
#
# Finds the tools, installs what is missing through the system's package manager if that is allowed,
# and otherwise says exactly what to install.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

if [ -t 2 ] && [ -z "${NO_COLOR:-}" ]; then
    step() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }
else
    step() { printf '== %s\n' "$*" >&2; }
fi

# as_root COMMAND...: runs it with the rights to install, or fails.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then sudo "$@"; else return 1; fi
}

apt_updated=
# install_packages PACKAGE...: through apt if it exists and is allowed.
install_packages() {
    command -v apt-get >/dev/null || return 1
    if [ -z "$apt_updated" ]; then
        as_root apt-get update -qq >&2 || return 1
        apt_updated=1
    fi
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
}

# need COMMAND PACKAGE HINT: makes sure that a command exists.
need() {
    command -v "$1" >/dev/null && return
    say "$1 is missing; installing $2"
    install_packages "$2" && command -v "$1" >/dev/null && return
    die "$1 is needed: $3"
}

# version_of JAVA_HOME: the major version, like 17.
version_of() {
    sed -n 's/^JAVA_VERSION="\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' "$1/release" 2>/dev/null
}

# Homes of all JDKs (with javac) of version 17 and up, the default one first. HINDSIGHT_JDKS names
# those to take instead of all that are found.
find_jdks() {
    local home seen=" " list=()
    if [ -n "${HINDSIGHT_JDKS:-}" ]; then
        IFS=: read -ra list <<<"$HINDSIGHT_JDKS"
    else
        if [ -n "${JAVA_HOME:-}" ]; then list+=("$JAVA_HOME"); fi
        if command -v javac >/dev/null; then list+=("$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")"); fi
        for home in /usr/lib/jvm/* /opt/java/* "$HOME"/.sdkman/candidates/java/*; do list+=("$home"); done
    fi
    for home in "${list[@]}"; do
        [ -x "$home/bin/javac" ] || continue
        home=$(readlink -f "$home")
        case "$seen" in *" $home "*) continue ;; esac
        seen="$seen$home "
        [ "$(version_of "$home")" -ge 17 ] 2>/dev/null && printf '%s\n' "$home"
    done
    return 0
}

# The agent is for one platform. This is asked before anything that older shells lack.
need_platform() {
    case "$(uname -s) $(uname -m)" in
        "Linux x86_64") ;;
        *) die "Hindsight is for Linux on x86-64; this is $(uname -s) on $(uname -m)" ;;
    esac
}

# Whether C can be compiled: Debian has the library's files in a package that its compiler only recommends.
compiles_c() {
    command -v cc >/dev/null && printf '#include <stdio.h>\n' | cc -x c -fsyntax-only - 2>/dev/null
}

need_c() {
    compiles_c && return
    say "a C compiler or its library is missing; installing gcc and libc6-dev"
    install_packages gcc libc6-dev && compiles_c && return
    die "a C compiler is needed: install it with the C library's headers (Debian: apt install gcc libc6-dev)"
}

# Needed where libFuzzer is built.
need_cpp() {
    need c++ g++ "install a C++ compiler (Debian: apt install g++)"
}

# The versions that a system offers depend on its release.
need_jdk() {
    local version
    [ -n "$(find_jdks)" ] && return
    [ -z "${HINDSIGHT_JDKS:-}" ] || die "HINDSIGHT_JDKS names no JDK of version 17 or newer"
    say "a JDK of version 17 or newer is missing; installing one"
    for version in 17 21 25; do
        install_packages "openjdk-$version-jdk-headless" && [ -n "$(find_jdks)" ] && return
    done
    die "a JDK of version 17 or newer is needed: install one (Debian: apt install openjdk-17-jdk-headless, or -21-, -25-) or set JAVA_HOME"
}

# What every script needs: Rust, a C compiler and linker, a JDK.
set_up() {
    need_platform
    export PATH="$HOME/.cargo/bin:$PATH"
    need_c
    need_jdk
    command -v cargo >/dev/null || die "cargo is needed: install Rust 1.95 or newer with rustup (see rustup.rs)"
    local rust
    rust=$(cargo --version | sed -n 's/^cargo 1\.\([0-9]*\).*/\1/p')
    [ "${rust:-0}" -ge 95 ] || die "cargo 1.$rust is too old: 1.95 or newer is needed (rustup update stable)"
    # Where the scripts look for what is built, whatever the user's configuration says.
    export CARGO_TARGET_DIR="$root/target"
    unset CARGO_BUILD_TARGET
    mapfile -t jdks < <(find_jdks)
    export JAVA_HOME="${jdks[0]}"
    # The tests take these, and look for none themselves.
    HINDSIGHT_JDKS=$(IFS=: && echo "${jdks[*]}")
    export HINDSIGHT_JDKS
}

# Needed where jars are downloaded.
set_up_maven() {
    need mvn maven "install Maven 3.8 or newer (Debian: apt install maven)"
    need sha256sum coreutils "install coreutils"
}

# Builds what users get: the agent and the command.
build() {
    step "building target/release/libhindsight.so and target/release/hindsight"
    cargo build --release --locked --quiet -p hindsight-agent -p hindsight-analyzer
    agent="$root/target/release/libhindsight.so"
    hindsight="$root/target/release/hindsight"
}
