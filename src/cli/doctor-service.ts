import type { Config } from "../config/config.ts";
import { codeOf } from "../db/sqlstate.ts";
import { plainReason } from "../errors.ts";
import { INSTANCE_HEADER, instanceOf } from "../http/health.ts";
import { findSecret } from "../sign-in/server-secret.ts";
import type { Finding } from "./doctor.ts";
import { localAddress } from "./doctor-metrics.ts";
import {
	BACKUP_TIMER,
	describeUnit,
	lastLogLine,
	lineOfEnd,
	readUnits,
	SERVICE_UNIT,
	type Unit,
} from "./systemd-units.ts";

const TIMEOUT_MS = 5_000;
const check = "service";

/**
 * Says whether the service answers at its port of this machine, and which of its units systemd
 * reports as failed or stopped.
 */
export async function examineService(config: Config): Promise<Finding[]> {
	const units = await readUnits();
	const url = localAddress(config.host, config.port);
	const unit = units.find(({ name }) => name === SERVICE_UNIT);
	// With port 0, the operating system chooses one at each start.
	const port = config.port === 0 ? [] : [await examinePort(config, url, unit)];
	return [...port, ...examineUnits(units)];
}

async function examinePort(
	config: Config,
	url: string,
	unit: Unit | undefined,
): Promise<Finding> {
	let live: Response;
	try {
		live = await ask(`${url}/health/live`);
	} catch (error) {
		const { cause } = error as { cause?: unknown };
		return codeOf(cause) === "ECONNREFUSED"
			? describeStopped(url, unit)
			: describeSilent(url, cause ?? error);
	}
	const given = live.headers.get(INSTANCE_HEADER);
	if (given === null) {
		return {
			check,
			status: "problem",
			found: `another program has the port of the service: ${url} answers with ${live.status}, and not as Assay does`,
			advice: `ss -ltnp 'sport = :${config.port}' (package iproute2) names the program; stop it, or set ASSAY_PORT to a free port here and in the proxy`,
		};
	}
	const secret = await findSecret(config);
	if (secret !== undefined && given !== instanceOf(secret)) {
		return {
			check,
			status: "problem",
			found: `another installation of Assay answers at ${url}`,
			advice: `ss -ltnp 'sport = :${config.port}' (package iproute2) names its process; stop it, or set ASSAY_PORT to a free port here and in the proxy; if it is the right one, it was started with another ASSAY_SECRET`,
		};
	}
	const ready = await ask(`${url}/health/ready`).catch(() => undefined);
	if (!ready?.ok) {
		const body = (await ready?.json().catch(() => undefined)) as
			| { message?: string }
			| undefined;
		return {
			check,
			status: "problem",
			found: `the service runs at ${url}, but cannot work (${body?.message ?? "no answer within 5 s"})`,
			advice:
				"look at database and disk below, and at the log: journalctl -u assay",
		};
	}
	return { check, status: "ok", found: `the service answers at ${url}` };
}

const ask = (url: string) =>
	fetch(url, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });

/** Describes a service at whose port nobody listens. `lines` are the last ones of its log. */
export function describeStopped(
	url: string,
	unit: Unit | undefined,
	lines?: string,
): Finding {
	const found = `the service does not run: nobody listens at ${url}`;
	if (!unit) {
		return {
			check,
			status: "warning",
			found,
			advice:
				"start the service, unless it runs on another machine or in another container",
		};
	}
	const last = lastLogLine(lines);
	const said = last ? `; its last line in the log: ${last}` : "";
	if (unit.isStopped) {
		return {
			check,
			status: "warning",
			found: `${found}, and somebody has stopped ${unit.name}`,
			advice: unit.isEnabled
				? "systemctl start assay"
				: "systemctl enable --now assay; it does not start with the machine either",
		};
	}
	if (unit.isStarting && unit.restarts === 0) {
		return {
			check,
			status: "warning",
			found: `${found} yet, because ${unit.name} is starting${said}`,
			advice: FOLLOW,
		};
	}
	if (unit.isRunning) {
		return {
			check,
			status: "problem",
			found: `${found}${said}`,
			advice:
				"the unit runs, so it probably listens at another address: compare ASSAY_HOST and ASSAY_PORT with the log, and restart the service after a change of the settings",
		};
	}
	const end = lineOfEnd(lines);
	const why = end ? `; the log says why: ${end}` : "";
	if (unit.isRestarting || unit.isStarting) {
		return {
			check,
			status: "problem",
			found: `${found}${why}`,
			advice: `${end ? `${CORRECT}; ` : ""}${describeRestart(unit)}${end ? "" : `; ${FOLLOW}`}`,
		};
	}
	return {
		check,
		status: "problem",
		found: `${found}${why || said}`,
		advice: `${CORRECT}; then systemctl start assay`,
	};
}

const FOLLOW = "wait, and follow the log: journalctl -fu assay";
const CORRECT =
	"correct what the log says (journalctl -u assay, docs/diagnosing.md)";

function describeRestart({ isRestarting, restartPause }: Unit): string {
	if (!isRestarting) return "systemd is starting it again";
	const pause = restartPause && `, after a pause of ${restartPause}`;
	return `systemd starts it again by itself${pause}`;
}

function describeSilent(url: string, error: unknown): Finding {
	return {
		check,
		status: "problem",
		found: `something listens at ${url}, but does not answer (${plainReason((error as Error).message)})`,
		advice:
			"look at the log (journalctl -u assay) and at the processor (systemd-cgtop); if the service hangs, systemctl restart assay",
	};
}

/** Reports units that have failed, and a timer that starts no backups. */
export function examineUnits(units: readonly Unit[]): Finding[] {
	return units.flatMap((unit): Finding[] => {
		const { name } = unit;
		if (unit.hasFailed) {
			const next = unit.isRestarting
				? describeRestart(unit)
				: `when the cause is gone, systemctl start ${name}`;
			return [
				{
					check: "units",
					status: "problem",
					found: `${name} ${describeUnit(unit)}`,
					advice: `journalctl -u ${name} -n 20 says why; ${next}`,
				},
			];
		}
		if (name === BACKUP_TIMER && unit.isStopped) {
			return [
				{
					check: "units",
					status: "warning",
					found: `${name} is stopped, so there is no backup every night`,
					advice: `systemctl enable --now ${name}, unless something else makes backups`,
				},
			];
		}
		return [];
	});
}
