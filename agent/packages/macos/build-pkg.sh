#!/bin/sh
# Makes assay-agent-VERSION-ARCH.pkg on a Mac, for Macs of the same architecture. Not tried yet.
#   agent/packages/macos/build-pkg.sh 1.4.0 dist/packages
# Set SIGN_APPLICATION and SIGN_INSTALLER to the names of your Developer ID certificates to sign the
# program and the package. Notarize the package afterwards with `xcrun notarytool submit`.
set -eu
version=$1
out=$2
here=$(cd "$(dirname "$0")" && pwd)
arch=$(uname -m | sed 's/x86_64/x64/')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder="$work/root/Library/Assay Agent"
mkdir -p "$folder" "$work/root/usr/local/bin" "$out"
npm run --silent build:agent -- --out "$work/built" --release "$version"
cp "$work/built/assay-agent" "$work/built/LICENSES.txt" "$folder/"
ln -s "/Library/Assay Agent/assay-agent" "$work/root/usr/local/bin/assay-agent"
if [ -n "${SIGN_APPLICATION:-}" ]; then
	codesign --force --options runtime --timestamp --sign "$SIGN_APPLICATION" \
		--entitlements "$here/entitlements.plist" "$folder/assay-agent"
fi
pkgbuild --root "$work/root" --scripts "$here/scripts" --ownership recommended \
	--identifier assay-agent --version "$version" \
	${SIGN_INSTALLER:+--sign "$SIGN_INSTALLER"} "$out/assay-agent-$version-$arch.pkg"
