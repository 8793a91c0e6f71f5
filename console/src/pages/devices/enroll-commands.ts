import type { Platform } from "../../../../src/devices/terms.ts";
import type { AgentPackage } from "../../parts/devices/agent-packages.ts";
import { downloadCommands, ifChecked } from "./download-commands.ts";

/** The values that a device needs to enroll. */
export interface Enrollment {
	serverUrl: string;
	token: string;
}

type Commands = {
	[System in Platform]: (enrollment: Enrollment) => string;
};

/** Commands that install a package without enrolling the device. An archive is only unpacked. */
function unpackCommand({ file, format }: AgentPackage): string {
	switch (format) {
		case "deb":
			return `apt install ./${file}`;
		case "rpm":
			return `dnf install ./${file}`;
		case "pkg":
			return `installer -pkg ${file} -target /`;
		default:
			return `tar xzf ${file}`;
	}
}

/**
 * Returns the program of an installed package with its command `install`. The service of a package
 * waits until `install` has enrolled the device, so `--no-service` adds no second one.
 */
function installCommand({ file, format }: AgentPackage): string {
	switch (format) {
		case "deb":
		case "rpm":
		case "pkg":
			return "assay-agent install --no-service";
		case "msi":
			return "& 'C:\\Program Files\\Assay Agent\\assay-agent.exe' install --no-service";
		default:
			return `./${file.replace(/\.tar\.gz$/, "")}/assay-agent install`;
	}
}

/**
 * Returns the commands that download a package, compare its checksum, install it and enroll the
 * device with a token, which the last command asks for.
 */
export function packageCommands(one: AgentPackage, serverUrl: string): string {
	const install = `${installCommand(one)} --server ${serverUrl}`;
	if (one.format === "msi") {
		return ifChecked(one, serverUrl, [
			`Start-Process msiexec -Wait -ArgumentList '/i ${one.file}'`,
			install,
		]);
	}
	const unpack = unpackCommand(one);
	return [
		...downloadCommands(one, systemOf(one), serverUrl),
		one.format === "tar.gz" ? unpack : `sudo ${unpack}`,
		`sudo ${install}`,
	].join(" &&\n");
}

/**
 * Returns the commands that download a package, compare its checksum, install it and enroll the
 * device with an enrollment key. They ask nothing, so a management system can run them.
 */
export function packageKeyCommands(
	one: AgentPackage,
	serverUrl: string,
): string {
	if (one.format === "msi") {
		// The msi enrolls the device with the key, and the agent removes the file.
		return ifChecked(one, serverUrl, [
			"Start-Process msiexec -Wait -ArgumentList `",
			`  '/i ${one.file} /qn SERVER=${serverUrl} KEYFILE="${KEY_FILES.WINDOWS}"'`,
		]);
	}
	const keyFile = KEY_FILES[systemOf(one) === "DARWIN" ? "DARWIN" : "LINUX"];
	const quietly = ["deb", "rpm"].includes(one.format) ? " -y" : "";
	// The key is removed only if it was used, so that the commands can run again.
	return [
		...downloadCommands(one, systemOf(one), serverUrl),
		unpackCommand(one).replace(" install ", ` install${quietly} `),
		[
			`${installCommand(one)} --server ${serverUrl} \\`,
			`  --enrollment-token-file ${keyFile}`,
		].join("\n"),
		`rm ${keyFile}`,
	].join(" &&\n");
}

const systemOf = ({ platform }: AgentPackage) =>
	platform === "DARWIN" || platform === "FREEBSD" ? platform : "LINUX";

/**
 * The file with the enrollment key, which only administrators may read. On Windows it lies below
 * Program Files, because every user may create files in C:\ProgramData and would own them.
 */
export const KEY_FILES = {
	LINUX: "/root/enrollment-key",
	DARWIN: "/var/root/enrollment-key",
	WINDOWS: "C:\\Program Files\\Assay Key\\key.txt",
};

/**
 * Commands that enroll the device on which they run and send a first heartbeat and posture report.
 * They need only programs that are part of the system. The report makes no claim about the device,
 * because its only result is UNKNOWN. The device key stays in the shell variable `key`.
 */
export const manualCommands: Commands = {
	LINUX: (enrollment) =>
		withCurl(enrollment, {
			hardware: "$(cat /etc/machine-id)",
			platform: "LINUX",
			version: '$(. /etc/os-release; echo "$PRETTY_NAME")',
		}),
	DARWIN: (enrollment) =>
		withCurl(enrollment, {
			hardware: `$(ioreg -rd1 -c IOPlatformExpertDevice | awk -F'"' '/IOPlatformUUID/{print $4}')`,
			platform: "DARWIN",
			version: "macOS $(sw_vers -productVersion)",
		}),
	FREEBSD: (enrollment) =>
		withCurl(enrollment, {
			hardware: "$(sysctl -n kern.hostuuid)",
			platform: "FREEBSD",
			version: "FreeBSD $(freebsd-version)",
		}),
	WINDOWS: ({ serverUrl, token }) =>
		[
			`$api = '${serverUrl}/api/agent/v1'`,
			`$answer = Invoke-RestMethod -Method Post "$api/enroll" -ContentType 'application/json' -Body '{"token":"${token}"}'`,
			"$key = $answer.api_key",
			"$facts = @{",
			"  hardware_uuid = (Get-CimInstance Win32_ComputerSystemProduct).UUID",
			"  hostname = $env:COMPUTERNAME",
			"  platform = 'WINDOWS'",
			"  os_version = (Get-CimInstance Win32_OperatingSystem).Caption",
			"  agent_version = 'by hand'",
			"} | ConvertTo-Json",
			`$as = @{ Authorization = "Bearer $key" }`,
			`Invoke-RestMethod -Method Post "$api/heartbeat" -Headers $as -ContentType 'application/json' -Body $facts`,
			`$now = (Get-Date).ToUniversalTime().ToString("yyyy-MM-ddTHH:mm:ssZ")`,
			`$report = '{"results":[{"check_key":"DISK_ENCRYPTION","status":"UNKNOWN","evidence":{"note":"tried by hand"},"observed_at":"' + $now + '"}]}'`,
			`Invoke-RestMethod -Method Post "$api/postures" -Headers $as -ContentType 'application/json' -Body $report`,
		].join("\n"),
};

function withCurl(
	{ serverUrl, token }: Enrollment,
	facts: { hardware: string; platform: string; version: string },
): string {
	return [
		`api=${serverUrl}/api/agent/v1`,
		`key=$(curl -fsS $api/enroll -d '{"token":"${token}"}' | sed 's/.*"api_key":"\\([^"]*\\)".*/\\1/')`,
		`hardware=${facts.hardware}`,
		`version=${quoted(facts.version)}`,
		`curl -fsS $api/heartbeat -H "Authorization: Bearer $key" -d @- <<END`,
		`{"hardware_uuid":"$hardware","hostname":"$(hostname)","platform":"${facts.platform}","os_version":"$version","agent_version":"by hand"}`,
		"END",
		`curl -fsS $api/postures -H "Authorization: Bearer $key" -d @- <<END`,
		`{"results":[{"check_key":"DISK_ENCRYPTION","status":"UNKNOWN","evidence":{"note":"tried by hand"},"observed_at":"$(date -u +%Y-%m-%dT%H:%M:%SZ)"}]}`,
		"END",
	].join("\n");
}

/**
 * Adds quotes to a value, which may contain spaces. A command substitution without other text needs
 * none.
 */
function quoted(value: string): string {
	return value.startsWith("$(") ? value : `"${value}"`;
}
