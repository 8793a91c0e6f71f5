import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { explainFolder } from "./agent-error.ts";
import { errorCode, parseObject, writeFileAtomically } from "./files.ts";

/** The result of an enrollment. */
export interface Credentials {
	/** Our own id, which tells one enrollment from the next. The state belongs to one of them. */
	enrollment_id: string;
	/** An origin, such as https://assay.example.com. */
	server_url: string;
	api_key: string;
	/** A certificate authority to trust in addition to the known ones, as PEM. */
	extra_ca?: string;
	/** RFC 3339. */
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

/** Returns undefined if the device is not enrolled or the stored file is damaged. */
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
