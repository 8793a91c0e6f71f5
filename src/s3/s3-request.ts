import { createReadStream, createWriteStream } from "node:fs";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { AppError, plainReason } from "../errors.ts";
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
	/** Names of the settings with the address and with the key, for advice in errors. */
	readonly settings: { readonly url: string; readonly key: string };
}

export interface S3Answer {
	status: number;
	/** Empty if the body was written to a file. */
	body: string;
	bytes: number;
}

export interface S3Call {
	method: "PUT" | "GET" | "HEAD" | "DELETE";
	name?: string;
	query?: Record<string, string>;
	/** The file that is sent. */
	file?: { path: string; bytes: number; sha256: string };
	/** The file that the body of a successful answer is written to. */
	to?: string;
	/** True if somebody waits, so that a store without an answer is asked only once. */
	isUrgent?: boolean;
}

/** A store that sends and takes nothing for so long is asked again. */
const IDLE_MS = 60_000;
const URGENT_MS = 5_000;
const TRIES = 3;
const PAUSE_MS = 2_000;
const MAX_ANSWER_BYTES = 4 << 20;

/**
 * Sends a request, up to three times if the store cannot be reached or fails. Throws a
 * service_unavailable AppError if the store cannot be reached at all.
 */
export async function callS3(
	folder: S3Folder,
	wanted: S3Call,
): Promise<S3Answer> {
	const most = wanted.isUrgent ? 1 : TRIES;
	for (let tries = 1; ; tries++) {
		try {
			const answer = await send(folder, wanted);
			if (answer.status < 500 || tries === most) return answer;
		} catch (error) {
			if (tries === most) {
				throw new AppError(
					"service_unavailable",
					`the store at ${folder.origin} cannot be reached (${plainReason((error as Error).message)}); check ${folder.settings.url} and the network; for a certificate of a private authority, set NODE_EXTRA_CA_CERTS`,
					{ cause: error },
				);
			}
		}
		await sleep(tries * PAUSE_MS);
	}
}

function send(folder: S3Folder, wanted: S3Call): Promise<S3Answer> {
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
	const timeout = wanted.isUrgent ? URGENT_MS : IDLE_MS;
	return new Promise((resolve, reject) => {
		const sent = request(url, { method, headers, timeout }, (got) => {
			receive(got, wanted.to).then(
				(body) =>
					resolve({
						status: got.statusCode ?? 0,
						body,
						bytes: Number(got.headers["content-length"] ?? 0),
					}),
				reject,
			);
		});
		sent.on("timeout", () =>
			sent.destroy(new Error(`no answer for ${timeout / 1000} s`)),
		);
		sent.on("error", reject);
		if (!file) sent.end();
		else pipeline(createReadStream(file.path), sent).catch(reject);
	});
}

async function receive(
	answer: IncomingMessage,
	to: string | undefined,
): Promise<string> {
	if (to !== undefined && answer.statusCode === 200) {
		await pipeline(answer, createWriteStream(to));
		return "";
	}
	let bytes = 0;
	answer.on("data", (chunk: Buffer) => {
		bytes += chunk.length;
		if (bytes > MAX_ANSWER_BYTES) answer.destroy(new Error("long answer"));
	});
	return text(answer);
}

/**
 * Returns true if the store says that it has no file with the name. A missing bucket, and a server
 * that is not such a store, also answer 404.
 */
export function hasNoFile({ status, body }: S3Answer): boolean {
	if (status !== 404) return false;
	return body === "" || textIn(body, "Code") === "NoSuchKey";
}

/** Throws a service_unavailable AppError with advice if the store has refused a request. */
export function expectS3Success(answer: S3Answer, folder: S3Folder): void {
	if (answer.status >= 200 && answer.status < 300) return;
	const { url, key } = folder.settings;
	// The causes that an operator can remove, by the store's code of the error.
	const advices: Record<string, string> = {
		NoSuchBucket: `create the bucket that ${url} names`,
		InvalidAccessKeyId: `check ${key}`,
		SignatureDoesNotMatch: `check the secret in ${key}, and the region in ${url}`,
		AuthorizationHeaderMalformed: `check the region in ${url}`,
		AccessDenied: "the key may not do this in the bucket",
		RequestTimeTooSkewed: "set the clock of this machine",
		"status 404": `check ${url}`,
	};
	const code = textIn(answer.body, "Code") ?? `status ${answer.status}`;
	const advice = advices[code] ?? textIn(answer.body, "Message") ?? "";
	throw new AppError(
		"service_unavailable",
		`the store at ${folder.origin} answered ${code}${advice && `: ${advice}`}`,
	);
}

/** Returns the text of the first element with this name. The answers of S3 have no attributes there. */
export function textIn(xml: string, element: string): string | undefined {
	const start = xml.indexOf(`<${element}>`);
	if (start < 0) return undefined;
	const from = start + element.length + 2;
	return xml.slice(from, xml.indexOf(`</${element}>`, from));
}
