import { chmod, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { AgentError } from "./agent-error.ts";
import { type AgentConfig, writeConfig } from "./config-file.ts";
import { writeFileAtomically } from "./files.ts";
import { parseServerUrl } from "./server-url.ts";

export interface Configured {
	/** The path of the config file. */
	config: string;
	service: string;
	/** Notes of the service manager. */
	warnings: string[];
}

export interface ConfigureOptions {
	server?: string;
	keyFile?: string;
	ownerEmail?: string;
	caFile?: string;
}

/**
 * Writes the config file if `options` say how to enroll, and sets up the service. An installer
 * passes a property that nobody has set as an empty text, which counts as not given.
 */
export async function configure(
	options: ConfigureOptions,
	file: string,
	service: { name: string; install(): Promise<string[]> },
): Promise<Configured> {
	const config = readOptions(options);
	if (config) {
		const text = writeConfig(config);
		await mkdir(dirname(file), { recursive: true, mode: 0o755 });
		await writeFileAtomically(file, text);
		await chmod(file, 0o644);
	}
	const warnings = await service.install();
	return { config: file, service: service.name, warnings };
}

function readOptions({
	server,
	keyFile,
	ownerEmail,
	caFile,
}: ConfigureOptions): AgentConfig | undefined {
	if (!server && !keyFile && !ownerEmail && !caFile) return undefined;
	if (!server || !keyFile) {
		throw new AgentError(
			"--server and --key-file belong together: the agent needs both to enroll this device",
		);
	}
	return {
		serverUrl: parseServerUrl(server),
		keyFile,
		...(ownerEmail && { ownerEmail }),
		...(caFile && { caFile }),
	};
}
