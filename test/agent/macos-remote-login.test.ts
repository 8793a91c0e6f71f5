import { macTable, ordinaryUser } from "./macos-table.ts";
import { commands } from "./recorded-table.ts";
import {
	disabledServices,
	loaded,
	notLoaded,
	REMOTE_MANAGEMENT,
} from "./recordings/macos.ts";
import { sshdSays } from "./recordings/sshd.ts";

const allOff = {
	ssh_running: false,
	screen_sharing: false,
	remote_management: false,
};
const sshOn = {
	"launchctl print system/com.openssh.sshd": loaded("com.openssh.sshd"),
	"launchctl print-disabled system": disabledServices([
		'"com.openssh.sshd" => enabled',
	]),
};

macTable("REMOTE_LOGIN", [
	["all off", {}, "PASS", allOff],
	[
		"all off and never touched",
		commands({ "launchctl print-disabled system": disabledServices() }),
		"PASS",
		allOff,
	],
	[
		"SSH on with passwords",
		commands({
			...sshOn,
			"sshd -T": sshdSays({ kbdinteractiveauthentication: "yes" }),
		}),
		"FAIL",
		{
			...allOff,
			ssh_running: true,
			port: 22,
			password_authentication: true,
			root_login: "prohibit-password",
			loopback_only: false,
		},
	],
	[
		"SSH on with keys only",
		commands({ ...sshOn, "sshd -T": sshdSays() }),
		"PASS",
		{
			...allOff,
			ssh_running: true,
			port: 22,
			password_authentication: false,
			root_login: "prohibit-password",
			loopback_only: false,
		},
	],
	[
		"SSH on, with settings that only root may read",
		{
			...ordinaryUser,
			commands: {
				...sshOn,
				"sshd -T": { exitCode: 1, stderr: "sshd: no hostkeys available" },
				"sshd -G": { exitCode: 1 },
			},
		},
		"UNKNOWN",
		{ reason: "needs_root", ...allOff, ssh_running: true },
	],
	[
		"SSH not loaded yet but enabled, with the words of macOS 12",
		commands({
			"launchctl print-disabled system": disabledServices([
				'"com.openssh.sshd" => false',
			]),
			"sshd -T": sshdSays({ passwordauthentication: "yes" }),
		}),
		"FAIL",
		{
			...allOff,
			ssh_running: true,
			port: 22,
			password_authentication: true,
			root_login: "prohibit-password",
			loopback_only: false,
		},
	],
	[
		"Screen Sharing on",
		commands({
			"launchctl print system/com.apple.screensharing": loaded(
				"com.apple.screensharing",
			),
		}),
		"FAIL",
		{ ...allOff, screen_sharing: true },
	],
	[
		"Remote Management on",
		{ files: { [REMOTE_MANAGEMENT]: "enabled\n" } },
		"FAIL",
		{ ...allOff, remote_management: true },
	],
	[
		"Remote Management in a file that may not be read",
		{ files: { [REMOTE_MANAGEMENT]: { kind: "denied" } } },
		"UNKNOWN",
		{
			reason: "service_state_not_known",
			ssh_running: false,
			screen_sharing: false,
		},
	],
	[
		"launchd does not answer",
		commands({
			"launchctl print system/com.openssh.sshd": { ended: "timed_out" },
		}),
		"UNKNOWN",
		{
			reason: "service_state_not_known",
			screen_sharing: false,
			remote_management: false,
		},
	],
	[
		"another error than an unknown service",
		commands({
			"launchctl print system/com.apple.screensharing": {
				...notLoaded("x"),
				stderr: "Operation not permitted\n",
			},
		}),
		"UNKNOWN",
		{
			reason: "service_state_not_known",
			ssh_running: false,
			remote_management: false,
		},
	],
]);
