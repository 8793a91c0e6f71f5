import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { explainFolder } from "./agent-error.ts";
import { errorCode, parseObject, writeFileAtomically } from "./files.ts";

/** The data that the agent stores about its enrollment. */
export interface Credentials {
	/**
	 * An id that the agent generates for each enrollment. It tells which enrollment the stored state
	 * belongs to.
	 */
	enrollment_id: string;
	/** The origin of the service, such as https://assay.example.com. */
	server_url: string;
	api_key: string;
	/** A certificate authority that is trusted in addition to the known ones, in PEM format. */
	extra_ca?: string;
	/** The time of the enrollment, in RFC 3339 format. */
	enrolled_at: string;
}

const FILE = "credentials.json";

export async function storeCredentials(
	folder: string,
	serverUrl: string,
	apiKey: string,
	extraCa?: string,
): Promise<Credentials> {
	const credentials: Credentials = {
		enrollment_id: randomUUID(),
		server_url: serverUrl,
		api_key: apiKey,
		...(extraCa === undefined ? {} : { extra_ca: extraCa }),
		enrolled_at: new Date().toISOString(),
	};
	await writeFileAtomically(
		join(folder, FILE),
		`${JSON.stringify(credentials)}\n`,
	);
	return credentials;
}

/**
 * Returns the stored credentials, or undefined if the device is not enrolled or the file is
 * damaged.
 */
export async function readCredentials(
	folder: string,
): Promise<Credentials | undefined> {
	let text: string;
	try {
		text = await readFile(join(folder, FILE), "utf8");
	} catch (error) {
		const code = errorCode(error);
		if (code === "ENOENT" || code === "ENOTDIR") return undefined;
		throw explainFolder(error, folder);
	}
	const { enrollment_id, server_url, api_key, extra_ca, enrolled_at } =
		parseObject(text) ?? {};
	if (
		typeof enrollment_id !== "string" ||
		typeof server_url !== "string" ||
		!URL.canParse(server_url) ||
		typeof api_key !== "string" ||
		typeof enrolled_at !== "string"
	) {
		return undefined;
	}
	return {
		enrollment_id,
		server_url,
		api_key,
		...(typeof extra_ca === "string" ? { extra_ca } : {}),
		enrolled_at,
	};
}

export async function clearCredentials(folder: string): Promise<void> {
	await rm(join(folder, FILE), { force: true });
}
