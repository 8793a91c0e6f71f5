import type { PLATFORMS } from "../../parts/devices/device-words.tsx";

/** The values that a device needs to enroll. */
export interface Enrollment {
	serverUrl: string;
	token: string;
}

type Commands = {
	[Platform in keyof typeof PLATFORMS]: (enrollment: Enrollment) => string;
};

/**
 * Returns the command that installs the agent on a device that has its program. The token is not in
 * the command. The agent asks for it, so the list of processes, which every user of the device can
 * see, does not show it.
 */
export const agentCommands: Commands = {
	LINUX: sudoInstall,
	DARWIN: sudoInstall,
	FREEBSD: ({ serverUrl }) =>
		`sudo node assay-agent.cjs install --server ${serverUrl}`,
	WINDOWS: ({ serverUrl }) =>
		`.\\assay-agent.exe install --server ${serverUrl}`,
};

function sudoInstall({ serverUrl }: Enrollment): string {
	return `sudo ./assay-agent install --server ${serverUrl}`;
}

/**
 * Returns the commands that enroll the machine they run on and send a first heartbeat and posture
 * report, with nothing but what the system includes. The report claims nothing: its check is
 * unknown. The key stays in the shell variable `key`.
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

/** A value that may contain spaces needs quotes; a substitution alone does not. */
function quoted(value: string): string {
	return value.startsWith("$(") ? value : `"${value}"`;
}
