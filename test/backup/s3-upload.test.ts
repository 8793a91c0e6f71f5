import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readLastBackup } from "../../src/backup/last-backup.ts";
import { EMPTY_SHA256, signS3Request } from "../../src/backup/s3-signature.ts";
import { deleteOldBackups } from "../../src/backup/s3-store.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { runCommand } from "../support/command.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { makeFolder } from "../support/folder.ts";

/**
 * A store in memory that speaks as much S3 as backups need. It checks the hash of a body, and takes
 * signatures of one key id without computing them: the first test does that with Amazon's example.
 */
const stored = new Map<string, { body: Buffer; at: Date }>();
let failure: { status: number; code: string } | undefined;
let server: Server;
let origin: string;
let folder: string;
let database: TestDatabase;

beforeAll(async () => {
	folder = await makeFolder("assay-s3-");
	database = await createDatabase();
	await createOrganization(database.pool, "Acme");
	server = createServer(async (request, response) => {
		const body = await buffer(request);
		const { pathname, searchParams } = new URL(request.url ?? "", origin);
		const name = decodeURIComponent(pathname).replace("/bucket/", "");
		const answer = (status: number, text: string | Buffer = "") =>
			response.writeHead(status).end(text);
		const hash = createHash("sha256").update(body).digest("hex");
		if (
			!request.headers.authorization?.includes("Credential=id/") ||
			request.headers["x-amz-content-sha256"] !== hash
		) {
			answer(403, "<Error><Code>SignatureDoesNotMatch</Code></Error>");
		} else if (failure && request.method === "PUT") {
			answer(failure.status, `<Error><Code>${failure.code}</Code></Error>`);
		} else if (request.method === "PUT") {
			stored.set(name, { body, at: new Date() });
			answer(200);
		} else if (request.method === "DELETE") {
			answer(stored.delete(name) ? 204 : 404);
		} else if (request.method === "HEAD") {
			const found = stored.get(name);
			if (found) response.setHeader("content-length", found.body.length);
			response.writeHead(found ? 200 : 404).end();
		} else {
			answer(200, list(searchParams));
		}
	});
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
	server.close();
	await database.drop();
});
beforeEach(() => {
	stored.clear();
	failure = undefined;
});

/** Lists two names at a time, so that a whole list needs several answers. */
function list(query: URLSearchParams): string {
	const from = Number(query.get("continuation-token") ?? 0);
	const names = [...stored.keys()]
		.filter((name) => name.startsWith(query.get("prefix") ?? ""))
		.sort();
	const parts = names.slice(from, from + 2).map((name) => {
		const key = encodeURIComponent(name).replaceAll("%20", "+");
		const at = stored.get(name)?.at.toISOString();
		return `<Contents><Key>${key}</Key><LastModified>${at}</LastModified></Contents>`;
	});
	const next =
		from + 2 < names.length
			? `<NextContinuationToken>${from + 2}</NextContinuationToken>`
			: "";
	return `<ListBucketResult>${next}${parts.join("")}</ListBucketResult>`;
}

const storeFolder = () => ({
	origin,
	bucket: "bucket",
	prefix: "nightly backups/",
	region: "us-east-1",
	credentials: { id: "id", secret: "secret" },
});

const backUp = (name: string, settings: Record<string, string> = {}) =>
	runCommand(["backup", join(folder, name), "--json"], {
		DATABASE_URL: database.url,
		ASSAY_BACKUP_S3_URL: `${origin}/bucket/nightly%20backups`,
		ASSAY_BACKUP_S3_KEY: "id:secret",
		...settings,
	});

const lastBackup = async () => {
	const client = await database.pool.connect();
	try {
		return (await readLastBackup(client)).made_at;
	} finally {
		client.release();
	}
};

test("a request has the signature that Amazon's documentation computes", () => {
	// "Example: Get Bucket (List Objects)" in the documentation of Signature Version 4.
	const headers = signS3Request(
		{
			method: "GET",
			url: new URL(
				"https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J",
			),
			bodySha256: EMPTY_SHA256,
			at: new Date("2013-05-24T00:00:00Z"),
		},
		"us-east-1",
		{
			id: "AKIAIOSFODNN7EXAMPLE",
			secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		},
	);
	expect(headers.authorization).toContain(
		"Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
	);
});

test("a backup that cannot be uploaded stays on the disk, fails the command and does not count", async () => {
	failure = { status: 403, code: "AccessDenied" };
	const { code, stderr } = await backUp("assay-denied.backup");
	expect(code).toBe(1);
	expect(stderr).toContain("the key may not do this in the bucket");
	expect(stderr).not.toContain("secret");
	expect(
		readFileSync(join(folder, "assay-denied.backup")).length,
	).toBeGreaterThan(100);
	expect(stored.size).toBe(0);
	expect(await lastBackup()).toBeNull();
});

test("a backup is uploaded whole, and counts then", async () => {
	const { code, stdout, stderr } = await backUp("assay-1.backup");
	expect(code, stderr).toBe(0);
	expect(JSON.parse(stdout)).toMatchObject({
		uploaded_to: `${origin}/bucket/nightly backups/assay-1.backup`,
		deleted: [],
	});
	expect(stored.get("nightly backups/assay-1.backup")?.body).toEqual(
		readFileSync(join(folder, "assay-1.backup")),
	);
	expect(await lastBackup()).not.toBeNull();
});

test("an upload never replaces a file", async () => {
	const body = Buffer.from("of another machine");
	stored.set("nightly backups/assay-2.backup", { body, at: new Date() });
	const { code, stderr } = await backUp("assay-2.backup");
	expect(code).toBe(1);
	expect(stderr).toContain("already has nightly backups/assay-2.backup");
	expect(stored.get("nightly backups/assay-2.backup")?.body).toBe(body);
});

test("a backup on standard output is not uploaded", async () => {
	const { code } = await runCommand(["backup", "-"], {
		DATABASE_URL: database.url,
		ASSAY_BACKUP_S3_URL: `${origin}/bucket`,
		ASSAY_BACKUP_S3_KEY: "id:secret",
	});
	expect(code).toBe(0);
	expect(stored.size).toBe(0);
});

test("old backups are deleted, and nothing else in the bucket is", async () => {
	const old = new Date(Date.now() - 31 * 86_400_000);
	const young = new Date(Date.now() - 29 * 86_400_000);
	const put = (name: string, at: Date) =>
		stored.set(name, { body: Buffer.from(name), at });
	put("nightly backups/assay-a b.backup", old);
	put("nightly backups/assay-old.backup", old);
	put("nightly backups/assay-young.backup", young);
	put("nightly backups/notes.txt", old);
	put("nightly backups/sub/assay-old.backup", old);
	put("assay-elsewhere.backup", old);
	const { code, stdout, stderr } = await backUp("assay-new.backup", {
		ASSAY_BACKUP_S3_KEEP_DAYS: "30",
	});
	expect(code, stderr).toBe(0);
	expect(JSON.parse(stdout).deleted.sort()).toEqual([
		"assay-a b.backup",
		"assay-old.backup",
	]);
	expect([...stored.keys()].sort()).toEqual([
		"assay-elsewhere.backup",
		"nightly backups/assay-new.backup",
		"nightly backups/assay-young.backup",
		"nightly backups/notes.txt",
		"nightly backups/sub/assay-old.backup",
	]);
});

test("the newest backup stays even if the clock makes it look old", async () => {
	const body = Buffer.from("x");
	stored.set("nightly backups/assay-1.backup", { body, at: new Date(0) });
	expect(await deleteOldBackups(storeFolder(), 1, "assay-1.backup")).toEqual(
		[],
	);
	expect(stored.size).toBe(1);
});

test("a store that cannot be reached is named, and the file stays", async () => {
	const { code, stderr } = await backUp("assay-3.backup", {
		ASSAY_BACKUP_S3_URL: "http://127.0.0.1:1/bucket",
	});
	expect(code).toBe(1);
	expect(stderr).toContain("http://127.0.0.1:1 cannot be reached");
	expect(stderr).toContain("assay-3.backup is complete, but its upload failed");
});
