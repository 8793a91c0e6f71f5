import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import type { Command } from "commander";
import { readConfig } from "../config/config.ts";
import { AppError } from "../errors.ts";
import { parseUrl, readAnswer, requireApiToken } from "./call.ts";
import { print } from "./output.ts";

/** An upload may take longer than any other call. */
const TIMEOUT_MS = 120_000;

interface AddOptions {
	record: string[];
	org?: string;
	name?: string;
	description?: string;
	validUntil?: string;
	owner?: string;
	url?: URL;
	json?: boolean;
}

export function addEvidence(program: Command): void {
	const evidence = program
		.command("evidence")
		.description("Store files that prove what records say.");
	evidence
		.command("add <file>")
		.description(
			"Upload a file to a running service as evidence for records. ASSAY_TOKEN is the API token.",
		)
		.option(
			"--record <id>",
			"record that it is evidence for; may be given several times",
			(id: string, others: string[]) => [...others, id],
			[],
		)
		.option("--org <id>", "organization, if there is no --record")
		.option("--name <name>", "what it shows (by default the name of the file)")
		.option("--description <text>", "where it comes from and what it proves")
		.option("--valid-until <date>", "last day on which it counts, YYYY-MM-DD")
		.option("--owner <id>", "person who answers for it")
		.option("--url <url>", "address of the service (ASSAY_BASE_URL)", parseUrl)
		.option("--json", "print the evidence as JSON")
		.action(add);
}

/** Opens a file to send it. Node reads it while it is sent. */
async function readFile(path: string): Promise<Blob> {
	try {
		return await openAsBlob(path);
	} catch (cause) {
		throw new AppError("bad_request", `the file ${path} cannot be read`, {
			cause,
		});
	}
}

async function add(file: string, options: AddOptions): Promise<void> {
	const config = readConfig(process.env);
	requireApiToken(
		config.token,
		"set ASSAY_TOKEN to an API token; `assay api-token create` makes one",
	);
	const fields = {
		file_name: basename(file),
		organization_id: options.org,
		name: options.name,
		description: options.description,
		valid_until: options.validUntil,
		owner_id: options.owner,
	};
	const url = new URL("/api/files", options.url?.href ?? config.baseUrl);
	for (const [name, value] of Object.entries(fields)) {
		if (value !== undefined) url.searchParams.set(name, value);
	}
	for (const id of options.record) url.searchParams.append("record_id", id);
	const body = await readFile(file);
	const answer = await readAnswer(url.origin, () =>
		fetch(url, {
			method: "POST",
			headers: {
				authorization: `Bearer ${config.token}`,
				"user-agent": "assay evidence",
			},
			body,
			redirect: "error",
			signal: AbortSignal.timeout(TIMEOUT_MS),
		}),
	);
	const { evidence } = answer as {
		evidence: {
			id: string;
			name: string;
			file: { size_bytes: number; sha256: string };
		};
	};
	print(
		options,
		answer as object,
		`Added the evidence "${evidence.name}" (${evidence.id}): ${evidence.file.size_bytes} bytes, SHA-256 ${evidence.file.sha256}`,
	);
}
