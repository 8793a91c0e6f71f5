import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { AppError, withoutNodeHint } from "../errors.ts";
import {
	EMPTY_SHA256,
	encodeForS3,
	type S3Credentials,
	signS3Request,
} from "./s3-signature.ts";

/** A folder of a bucket in a store that speaks S3. */
export interface S3Folder {
	/** Address of the store, such as https://s3.eu-central-1.amazonaws.com. */
	readonly origin: string;
	readonly bucket: string;
	/** Begin of all names, empty or with a slash at its end. */
	readonly prefix: string;
	readonly region: string;
	readonly credentials: S3Credentials;
}

/** The largest body of one request. S3 takes larger objects only in parts. */
const MAX_BYTES = 5 * 2 ** 30;
/** A store that sends and takes nothing for so long is asked again. */
const IDLE_MS = 60_000;
const TRIES = 3;
const PAUSE_MS = 2_000;
/** A list has at most 1000 names. */
const MAX_LISTS = 100;
const MAX_ANSWER_BYTES = 4 << 20;
const DAY_MS = 86_400_000;

interface Answer {
	status: number;
	body: string;
	bytes: number;
}

interface Call {
	method: "PUT" | "GET" | "HEAD" | "DELETE";
	name?: string;
	query?: Record<string, string>;
	file?: { path: string; bytes: number; sha256: string };
}

/**
 * Stores a file under its name and checks that it is there. Throws an AppError if the name is taken
 * or the store rejects the file.
 */
export async function uploadFile(
	folder: S3Folder,
	path: string,
	name: string,
): Promise<void> {
	const { size: bytes } = await stat(path);
	if (bytes > MAX_BYTES) {
		throw new AppError(
			"bad_request",
			`${path} has more than 5 GiB, which the store does not take in one request; copy it with another program, or leave out the contents of files (--without-files)`,
		);
	}
	const before = await call(folder, { method: "HEAD", name });
	if (before.status === 200) {
		throw new AppError(
			"bad_request",
			`the store already has ${folder.prefix}${name}; nothing was replaced`,
		);
	}
	const hash = createHash("sha256");
	await pipeline(createReadStream(path), hash);
	const file = { path, bytes, sha256: hash.digest("hex") };
	expectSuccess(await call(folder, { method: "PUT", name, file }), folder);
	const after = await call(folder, { method: "HEAD", name });
	if (after.status !== 200 || after.bytes !== bytes) {
		throw new AppError(
			"service_unavailable",
			`the store took ${folder.prefix}${name}, but does not show it with its ${bytes} bytes`,
		);
	}
}

/**
 * Deletes the backups in the folder that are older than `days`, apart from `newest`. Only names
 * like those of the nightly backups are touched: assay-….backup. Returns the deleted names.
 */
export async function deleteOldBackups(
	folder: S3Folder,
	days: number,
	newest: string,
	now: number = Date.now(),
): Promise<string[]> {
	const deleted: string[] = [];
	for (const { name, storedAt } of await listFiles(folder)) {
		const isBackup = name.startsWith("assay-") && name.endsWith(".backup");
		const isOld = now - storedAt > days * DAY_MS;
		if (!isBackup || !isOld || name === newest || name.includes("/")) continue;
		expectSuccess(await call(folder, { method: "DELETE", name }), folder);
		deleted.push(name);
	}
	return deleted;
}

async function listFiles(
	folder: S3Folder,
): Promise<{ name: string; storedAt: number }[]> {
	const files: { name: string; storedAt: number }[] = [];
	let token: string | undefined;
	for (let lists = 0; lists < MAX_LISTS; lists++) {
		const answer = await call(folder, {
			method: "GET",
			query: {
				"list-type": "2",
				"encoding-type": "url",
				prefix: folder.prefix,
				...(token && { "continuation-token": token }),
			},
		});
		expectSuccess(answer, folder);
		for (const part of answer.body.split("<Contents>").slice(1)) {
			// In a list of this encoding, a space is a plus sign.
			const key = decodeURIComponent(
				(textIn(part, "Key") ?? "").replaceAll("+", " "),
			);
			const storedAt = Date.parse(textIn(part, "LastModified") ?? "");
			if (!key.startsWith(folder.prefix) || Number.isNaN(storedAt)) continue;
			files.push({ name: key.slice(folder.prefix.length), storedAt });
		}
		token = textIn(answer.body, "NextContinuationToken");
		if (!token) break;
	}
	return files;
}

/** Returns the text of the first element with this name. The answers of S3 have no attributes there. */
function textIn(xml: string, element: string): string | undefined {
	const start = xml.indexOf(`<${element}>`);
	if (start < 0) return undefined;
	const from = start + element.length + 2;
	return xml.slice(from, xml.indexOf(`</${element}>`, from));
}

/** Sends a request, up to three times if the store cannot be reached or fails. */
async function call(folder: S3Folder, wanted: Call): Promise<Answer> {
	for (let tries = 1; ; tries++) {
		try {
			const answer = await send(folder, wanted);
			if (answer.status < 500 || tries === TRIES) return answer;
		} catch (error) {
			if (tries === TRIES) {
				throw new AppError(
					"service_unavailable",
					`the store at ${folder.origin} cannot be reached (${withoutNodeHint((error as Error).message)}); check ASSAY_BACKUP_S3_URL and the network; for a certificate of a private authority, set NODE_EXTRA_CA_CERTS`,
					{ cause: error },
				);
			}
		}
		await sleep(tries * PAUSE_MS);
	}
}

function send(folder: S3Folder, wanted: Call): Promise<Answer> {
	const { method, name, query = {}, file } = wanted;
	const key = name === undefined ? "" : `/${folder.prefix}${name}`;
	const path = `/${folder.bucket}${key}`.split("/").map(encodeForS3).join("/");
	const url = new URL(path, folder.origin);
	const pairs = Object.entries(query).map((pair) => pair.map(encodeForS3));
	url.search = pairs.map((pair) => pair.join("=")).join("&");
	const bodySha256 = file?.sha256 ?? EMPTY_SHA256;
	const headers = {
		...signS3Request(
			{ method, url, bodySha256, at: new Date() },
			folder.region,
			folder.credentials,
		),
		...(file && { "content-length": file.bytes }),
	};
	const request = url.protocol === "http:" ? requestHttp : requestHttps;
	return new Promise((resolve, reject) => {
		const sent = request(url, { method, headers, timeout: IDLE_MS }, (got) => {
			let bytes = 0;
			got.on("data", (chunk: Buffer) => {
				bytes += chunk.length;
				if (bytes > MAX_ANSWER_BYTES) got.destroy(new Error("long answer"));
			});
			text(got).then(
				(body) =>
					resolve({
						status: got.statusCode ?? 0,
						body,
						bytes: Number(got.headers["content-length"] ?? 0),
					}),
				reject,
			);
		});
		sent.on("timeout", () => sent.destroy(new Error("no answer for 60 s")));
		sent.on("error", reject);
		if (!file) sent.end();
		else pipeline(createReadStream(file.path), sent).catch(reject);
	});
}

/** The causes that an operator can remove, by the store's code of the error. */
const ADVICE: Record<string, string> = {
	NoSuchBucket: "create the bucket that ASSAY_BACKUP_S3_URL names",
	InvalidAccessKeyId: "check ASSAY_BACKUP_S3_KEY",
	SignatureDoesNotMatch:
		"check the secret in ASSAY_BACKUP_S3_KEY, and the region in ASSAY_BACKUP_S3_URL",
	AuthorizationHeaderMalformed: "check the region in ASSAY_BACKUP_S3_URL",
	AccessDenied: "the key may not do this in the bucket",
	RequestTimeTooSkewed: "set the clock of this machine",
};

function expectSuccess(answer: Answer, folder: S3Folder): void {
	if (answer.status >= 200 && answer.status < 300) return;
	const code = textIn(answer.body, "Code") ?? `status ${answer.status}`;
	const advice = ADVICE[code] ?? textIn(answer.body, "Message") ?? "";
	throw new AppError(
		"service_unavailable",
		`the store at ${folder.origin} answered ${code}${advice && `: ${advice}`}`,
	);
}
