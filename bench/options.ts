import { resolve } from "node:path";
import { parseArgs } from "node:util";

export const PARTS = ["heartbeats", "postures", "mixed", "bare"] as const;
export type Part = (typeof PARTS)[number];

export interface Options {
	devices: number;
	/** Devices in the database: those above, and others that have reported and send nothing. */
	stored: number;
	/**
	 * Reports with a changed check that each device sends before the steady ones. Each silent device has
	 * so many ended spans, and at least one.
	 */
	changes: number;
	/** Seconds of each measurement of a closed loop. */
	seconds: number;
	mixedSeconds: number;
	/** Number of devices whose schedule the mixed run keeps. */
	scheduled: number;
	connections: number[];
	workers: number;
	parts: Part[];
	isJson: boolean;
	/** The folder in which the service writes its processor profile when it stops. */
	profile: string | undefined;
	/** Options of Node for the service. */
	node: string[];
	/** The folder whose database is kept for later runs. Undefined if none is kept. */
	keep: string | undefined;
	/** The checkout whose service is measured. Undefined means this one. */
	service: string | undefined;
}

export const USAGE = `Usage: npm run bench:agent-api -- [options]

Starts a service with an embedded database in a temporary folder, measures the Device Agent API, and
removes the folder. Takes about six minutes with the defaults.

  --devices <n>          number of active devices, in 20 organizations (100000)
  --stored <n>           number of devices in the database: those that send requests, and others that
                         have reported all checks and are silent (as many as --devices)
  --changes <n>          number of reports with a changed check that each device sends before the
                         steady ones; a kept database gets none. Each silent device has so many
                         ended spans, and at least one (0)
  --seconds <n>          length of each measurement (20)
  --mixed-seconds <n>    length of the run with a schedule (60)
  --scheduled <n>        number of devices whose schedule that run keeps (3000000)
  --workers <n>          number of processes of the service (1)
  --connections <n,n>    numbers of keep-alive connections, with one measurement each (64,256)
  --only <part>          heartbeats, postures, mixed or bare; may be repeated (all of them)
  --profile <folder>     folder for the service's .cpuprofile
  --node=<option>        option of Node for the service, such as --max-old-space-size=160; may be
                         repeated
  --keep <folder>        keep the database in this folder. A later run with it and the same numbers of
                         devices starts at once, and has no first reports
  --service <folder>     measure the service of another checkout
  --json                 print JSON instead of Markdown
  --help                 print this text
`;

/**
 * Parses the options in `argv`. Returns "help" if the user asks for help. Throws an Error that says
 * what is wrong.
 */
export function readOptions(argv: string[]): Options | "help" {
	const { values } = parseArgs({
		args: argv,
		options: {
			devices: { type: "string", default: "100000" },
			stored: { type: "string" },
			changes: { type: "string", default: "0" },
			seconds: { type: "string", default: "20" },
			"mixed-seconds": { type: "string", default: "60" },
			scheduled: { type: "string", default: "3000000" },
			workers: { type: "string", default: "1" },
			connections: { type: "string", default: "64,256" },
			only: { type: "string", multiple: true },
			profile: { type: "string" },
			node: { type: "string", multiple: true, default: [] },
			keep: { type: "string" },
			service: { type: "string" },
			json: { type: "boolean", default: false },
			help: { type: "boolean", default: false },
		},
	});
	if (values.help) return "help";
	const parts = PARTS.filter((part) => values.only?.includes(part) ?? true);
	for (const name of values.only ?? []) {
		if (!PARTS.some((part) => part === name)) {
			throw new Error(`--only is one of ${PARTS.join(", ")}, not "${name}"`);
		}
	}
	// There must be enough devices, because no device may have two requests in flight.
	const devices = readNumber("--devices", values.devices, 2_000, 5_000_000);
	const stored = values.stored ?? values.devices;
	return {
		devices,
		stored: readNumber("--stored", stored, devices, 10_000_000),
		changes: readNumber("--changes", values.changes, 0, 1_000),
		seconds: readNumber("--seconds", values.seconds, 1, 3_600),
		mixedSeconds: readNumber(
			"--mixed-seconds",
			values["mixed-seconds"],
			1,
			3_600,
		),
		scheduled: readNumber("--scheduled", values.scheduled, 1_000, 10_000_000),
		workers: readNumber("--workers", values.workers, 1, 64),
		connections: values.connections
			.split(",")
			.map((text) => readNumber("--connections", text, 1, 1_000)),
		parts,
		isJson: values.json,
		profile: values.profile,
		node: values.node,
		keep: values.keep && resolve(values.keep),
		service: values.service && resolve(values.service),
	};
}

function readNumber(
	name: string,
	text: string,
	least: number,
	most: number,
): number {
	const number = Number(text);
	if (!/^\d+$/.test(text) || number < least || number > most) {
		throw new Error(
			`${name} is a whole number from ${least} to ${most}, not "${text}"`,
		);
	}
	return number;
}
