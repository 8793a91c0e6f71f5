import type { Platform } from "../../../../src/devices/terms.ts";
import { PACKAGES_PATH } from "../../parts/devices/agent-packages.ts";

interface Download {
	file: string;
	sha256: string;
}

/** Returns commands that download a file and compare its checksum, for all systems but Windows. */
export function downloadCommands(
	{ file, sha256 }: Download,
	platform: Exclude<Platform, "WINDOWS">,
	serverUrl: string,
): string[] {
	const url = `${serverUrl}${PACKAGES_PATH}${file}`;
	switch (platform) {
		case "FREEBSD":
			return [`fetch -q ${url}`, `sha256 -q -c ${sha256} ${file}`];
		case "DARWIN":
			return [
				`curl -fsSO ${url}`,
				`echo "${sha256}  ${file}" | shasum -a 256 -c`,
			];
		default:
			return [`curl -fsSO ${url}`, `echo "${sha256}  ${file}" | sha256sum -c`];
	}
}

/** Returns commands for PowerShell that run only if the downloaded file has the right checksum. */
export function ifChecked(
	{ file, sha256 }: Download,
	serverUrl: string,
	commands: string[],
): string {
	return [
		`Invoke-WebRequest ${serverUrl}${PACKAGES_PATH}${file} -OutFile ${file} -UseBasicParsing`,
		`if ((Get-FileHash ${file}).Hash -eq '${sha256}') {`,
		...commands.map((command) => `  ${command}`),
		"} else { Write-Error 'The checksum of the download is wrong.' }",
	].join("\n");
}
