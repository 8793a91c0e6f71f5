import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "../agent-error.ts";
import { exists } from "../files.ts";
import { defaultFolder } from "../folder.ts";
import type { Host } from "../host.ts";
import {
	checkSpec,
	runOrThrow,
	SERVICE_NAME,
	type ServiceManager,
	type ServiceSpec,
	tryRun,
} from "./manager.ts";
import { placeProgram, programFolder, removeProgram } from "./program.ts";

const UNIT = `${SERVICE_NAME}.service`;

export interface SystemdPlaces {
	units: string;
	programs: string;
	/** Folder of the units of packages. A unit of `units` with the same name comes before them. */
	packagedUnits: string;
}

/** The first line of a unit that `install` has made. Packages replace such a unit by their own. */
export const MADE_BY_INSTALL = "# Made by the Assay agent's install command";

export function systemd(
	host: Host,
	places: SystemdPlaces = {
		units: "/etc/systemd/system",
		programs: programFolder("linux"),
		packagedUnits: "/usr/lib/systemd/system",
	},
): ServiceManager {
	const unit = join(places.units, UNIT);
	const packaged = join(places.packagedUnits, UNIT);
	const isPackaged = async () =>
		(await exists(packaged)) && !(await exists(unit));
	return {
		name: "systemd",
		async install(spec) {
			checkSpec(spec);
			if (await isPackaged()) return startPackaged(host, spec);
			const placed = await placeProgram(spec, places.programs);
			// A new file gets the SELinux label of its parent folder. This command sets the label that a
			// service's program needs.
			await tryRun(host, "restorecon", ["-RF", places.programs]);
			const text = `${MADE_BY_INSTALL}; uninstall removes it.\n${systemdUnit(placed)}`;
			await writeFile(unit, text, { mode: 0o644 });
			await runOrThrow(host, "systemctl", ["daemon-reload"]);
			await runOrThrow(host, "systemctl", ["enable", UNIT]);
			await runOrThrow(host, "systemctl", ["restart", UNIT]);
			return [];
		},
		async uninstall() {
			const notes: string[] = [];
			if (await isPackaged()) {
				await runOrThrow(host, "systemctl", ["disable", "--now", UNIT]);
				return [
					"The agent came as a package, which is still installed. Remove it with your package manager.",
				];
			}
			if (await exists(unit)) {
				await runOrThrow(host, "systemctl", ["disable", "--now", UNIT]);
				await rm(unit, { force: true });
				await runOrThrow(host, "systemctl", ["daemon-reload"]);
				await tryRun(host, "systemctl", ["reset-failed", UNIT]);
			} else {
				notes.push(`There was no service ${UNIT}.`);
			}
			return [...notes, ...(await removeProgram(places.programs))];
		},
		async state() {
			if (!(await exists(unit)) && !(await exists(packaged))) {
				return "not_installed";
			}
			const { ended, stdout } = await tryRun(host, "systemctl", [
				"is-active",
				UNIT,
			]);
			if (ended !== "exited") return "unknown";
			const said = stdout.trim();
			if (said === "active" || said === "reloading") return "running";
			return /^(inactive|failed|activating|deactivating)$/.test(said)
				? "stopped"
				: "unknown";
		},
	};
}

/** Starts the service whose unit and program a package has installed. */
async function startPackaged(host: Host, spec: ServiceSpec): Promise<string[]> {
	const folder = defaultFolder({ platform: "linux", isPrivileged: true });
	if (spec.folder !== folder) {
		throw new AgentError(
			`the service of the package uses ${folder}; leave --dir out, or use --no-service`,
		);
	}
	await runOrThrow(host, "systemctl", ["enable", UNIT]);
	await runOrThrow(host, "systemctl", ["restart", UNIT]);
	const names = Object.keys(spec.environment);
	return names.length === 0
		? []
		: [
				`The service of the package does not pass on environment variables. Set ${names.join(", ")} with \`systemctl edit ${UNIT}\`.`,
			];
}

/**
 * Returns the unit file. The checks look at nearly everything: block devices, the firewall, mounts,
 * and the settings of other users (through `runuser`). The unit therefore removes only rights that
 * no check needs.
 *
 * The unit makes no mount namespace, because a check would then see other mounts than the device
 * has. It therefore has no ProtectSystem, ProtectHome, PrivateTmp, PrivateDevices, ProtectKernel…
 * or ProtectClock. It also leaves out MemoryDenyWriteExecute, because V8 compiles code, and
 * NoNewPrivileges: root cannot gain privileges, and SELinux could not change the domain of the
 * programs that the checks run.
 */
export function systemdUnit(spec: ServiceSpec): string {
	const environment = Object.entries(spec.environment).map(
		([name, value]) => `Environment=${quote(`${name}=${value}`)}`,
	);
	const args = spec.args.map((arg) => quote(arg).replaceAll("$", "$$$$"));
	return `[Unit]
Description=Assay device agent
Wants=network-online.target
After=network-online.target
# Restart it however often it fails: a device that stops reporting is worse.
StartLimitIntervalSec=0

[Service]
# With exec, the start fails if the program cannot be run.
Type=exec
ExecStart=${[quote(spec.program), ...args].join(" ")}
${environment.map((line) => `${line}\n`).join("")}Restart=always
RestartSec=30
TimeoutStopSec=15
# If a check's command runs out of memory, the agent goes on.
OOMPolicy=continue
Nice=10
IOSchedulingClass=idle
TasksMax=128
UMask=0077
# The journal keeps the agent's log.
StandardInput=null
StandardOutput=journal
StandardError=journal
SyslogIdentifier=${SERVICE_NAME}
# The agent only reads: it loads no modules, sets no clock, makes no devices, restarts nothing.
CapabilityBoundingSet=~CAP_SYS_TIME CAP_SYS_BOOT CAP_SYS_MODULE CAP_MKNOD CAP_MAC_ADMIN CAP_MAC_OVERRIDE CAP_WAKE_ALARM CAP_BLOCK_SUSPEND
# The service, sockets of the desktop and of the system bus, and the firewall's tables.
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictSUIDSGID=yes
RestrictRealtime=yes
LockPersonality=yes
SystemCallArchitectures=native

[Install]
WantedBy=multi-user.target
`;
}

/** Quotes text for a systemd unit. `%` is doubled, because a single one would start a specifier. */
const quote = (text: string) =>
	`"${text.replace(/["\\]/g, "\\$&").replaceAll("%", "%%")}"`;
