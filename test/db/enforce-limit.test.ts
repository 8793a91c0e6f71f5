import { afterAll, beforeAll, expect, test } from "vitest";
import {
	type Session,
	shareConsole,
	type TestConsole,
} from "../support/console-session.ts";

let served: TestConsole;
let organization_id: string;
let admins: Session[];
const risks: string[] = [];
let vendor: string;
beforeAll(async () => {
	served = await shareConsole();
	organization_id = served.organizationId;
	admins = await Promise.all([served.signIn("admin"), served.signIn("admin")]);
	const [admin] = admins as [Session];
	for (let n = 0; n <= CALLS; n++) {
		const { risk } = await admin.use("addRisk", {
			organization_id,
			name: "Theft",
			category: "Sites",
			treatment: "MITIGATED",
			inherent_likelihood: 3,
			inherent_impact: 3,
		});
		risks.push(risk.id);
	}
	({
		vendor: { id: vendor },
	} = await admin.use("addVendor", { organization_id, name: "Globex" }));
});
afterAll(() => served.close());

const CALLS = 6;
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();

interface Limited {
	tool: string;
	table: string;
	max: number;
	/** Makes the input of the call number `n`. The call number 0 makes the row that is copied. */
	input: (n: number) => object;
	/** Columns in which copies must differ, with the value of the copy number `n` in SQL. */
	copy?: Record<string, string>;
	/** True if the limit holds for each user. Otherwise two users make the calls. */
	isOwn?: boolean;
}

const name = (n: number) => ({ organization_id, name: `Number ${n}` });
const copiedName = { name: "t.name || ' copy ' || n" };
const secret = { token_hash: "sha256(t.token_hash || n::text::bytea)" };

const LIMITED: Record<string, Limited> = {
	"comments on a record": {
		tool: "addComment",
		table: "record_comments",
		max: 1000,
		input: () => ({ record_id: risks[0], text: "Is it so?" }),
	},
	"records that a user watches": {
		tool: "watchRecord",
		table: "record_watches",
		max: 1000,
		input: (n) => ({ record_id: risks[n] }),
		copy: { record_id: "left(t.record_id, 28) || to_char(n, 'FM0000')" },
		isOwn: true,
	},
	"own views of a list": {
		tool: "saveView",
		table: "saved_views",
		max: 50,
		input: (n) => ({ ...name(n), list: "risk", search: {} }),
		copy: copiedName,
		isOwn: true,
	},
	"shared views of a list": {
		tool: "saveView",
		table: "saved_views",
		max: 50,
		input: (n) => ({ ...name(n), list: "task", search: {}, is_shared: true }),
		copy: copiedName,
	},
	"identity providers": {
		tool: "addIdentityProvider",
		table: "identity_providers",
		max: 10,
		input: (n) => ({
			...name(n),
			kind: "OIDC",
			issuer: "https://login.assay.invalid",
			client_id: "assay",
			client_secret: "secret",
		}),
	},
	webhooks: {
		tool: "addWebhook",
		table: "webhooks",
		max: 20,
		input: () => ({ organization_id, url: "https://hooks.example.com" }),
	},
	snapshots: {
		tool: "takeSnapshot",
		table: "snapshots",
		max: 500,
		input: (n) => ({ ...name(n), type: "RISKS" }),
	},
	"groups of devices": {
		tool: "addDeviceGroup",
		table: "device_groups",
		max: 500,
		input: name,
		copy: copiedName,
	},
	"groups of devices with a filter": {
		tool: "addDeviceGroup",
		table: "device_groups",
		max: 50,
		input: (n) => ({ ...name(n), filter: { platform: "LINUX" } }),
		copy: copiedName,
	},
	exceptions: {
		tool: "addDeviceException",
		table: "device_exceptions",
		max: 1000,
		input: () => ({
			organization_id,
			check: "FIREWALL_ENABLED",
			reason: "No firewall yet",
			ends_at: TOMORROW,
		}),
	},
	"reviews of a vendor": {
		tool: "addVendorReview",
		table: "vendor_reviews",
		max: 1000,
		input: () => ({ vendor_id: vendor, outcome: "APPROVED" }),
	},
	chats: {
		tool: "addNotificationChannel",
		table: "notification_channels",
		max: 20,
		input: (n) => ({
			...name(n),
			kind: "SLACK",
			address: "https://hooks.slack.com/services/x",
		}),
	},
	domains: {
		tool: "addDomain",
		table: "organization_domains",
		max: 20,
		input: (n) => ({ organization_id, domain: `${n}.assay.invalid` }),
		copy: { domain: "'copy-' || n || t.domain" },
	},
	"credentials for SCIM": {
		tool: "createScimCredential",
		table: "scim_credentials",
		max: 5,
		input: name,
		copy: { secret_hash: "sha256(t.secret_hash || n::text::bytea)" },
	},
	"open invitations": {
		tool: "inviteMember",
		table: "invitations",
		max: 2000,
		input: (n) => ({
			organization_id,
			email: `guest-${n}@example.com`,
			role: "viewer",
		}),
		copy: {
			...secret,
			email: "n || t.email",
			created_at: "t.created_at - interval '2 days'",
		},
	},
};

/** Copies the newest row of a table `copies` times. */
async function copyNewest(
	{ table, copy = {} }: Limited,
	copies: number,
): Promise<void> {
	const { owner } = served.database;
	const { rows } = await owner.query<{ column_name: string }>(
		`select column_name from information_schema.columns
		where table_name = $1 and is_generated = 'NEVER'`,
		[table],
	);
	const columns = rows.map(({ column_name }) => column_name);
	const values: Record<string, string> = {
		id: "left(t.id, 28) || to_char(n, 'FM0000')",
		...copy,
	};
	await owner.query(
		`insert into ${table} (${columns}) select ${columns.map((column) => values[column] ?? `t.${column}`)}
		from (
			select * from ${table} where organization_id = $1 order by created_at desc limit 1
		) t, generate_series(1, $2) n`,
		[organization_id, copies],
	);
}

test.for(
	Object.keys(LIMITED),
)("calls at the same time do not exceed the limit together: %s", async (what) => {
	const limited = LIMITED[what] as Limited;
	const { tool, table, max, input, isOwn } = limited;
	const [admin, other] = admins as [Session, Session];
	await served.database.owner.query(
		`delete from ${table} where organization_id = $1`,
		[organization_id],
	);
	await admin.use(tool, input(0));
	await copyNewest(limited, max - 2);
	const answers = await Promise.all(
		Array.from({ length: CALLS }, (_, n) =>
			(isOwn || n % 2 ? admin : other).call(tool, input(n + 1)),
		),
	);
	expect(answers.map(({ status }) => status).sort()).toEqual([
		200,
		...Array(CALLS - 1).fill(400),
	]);
	for (const { status, body } of answers) {
		if (status === 400) expect(body.message).toContain(String(max));
	}
});

test("mentions at the same time do not let a user watch too many records", async () => {
	const [admin, other] = admins as [Session, Session];
	const watched = () =>
		served.database.owner.query<{ count: number }>(
			"select count(*)::int as count from record_watches where organization_id = $1 and user_id = $2",
			[organization_id, other.user.id],
		);
	await other.use("watchRecord", { record_id: risks[0] });
	await copyNewest(LIMITED["records that a user watches"] as Limited, 998);
	const mentioned_user_ids = [other.user.id];
	await Promise.all(
		risks
			.slice(1)
			.map((record_id) =>
				admin.use("addComment", { record_id, text: "See", mentioned_user_ids }),
			),
	);
	expect((await watched()).rows).toEqual([{ count: 1000 }]);
	// A record that the user watches already does not count as one more.
	await other.use("watchRecord", { record_id: risks[0] });
});
