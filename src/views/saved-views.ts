import { z } from "zod";
import { enforceLimit } from "../db/enforce-limit.ts";
import { codeOf, UNIQUE_VIOLATION } from "../db/sqlstate.ts";
import { AppError, badFields } from "../errors.ts";
import { makeId } from "../id.ts";
import { notFound } from "../invoke.ts";
import { type Change, type Context, defineOperation } from "../operation.ts";
import { roleReaches } from "../principal.ts";
import { organizationId } from "../records/list-pages.ts";
import { idSchema, nameSchema } from "../records/text-schemas.ts";
import { recordKinds } from "../registers/all.ts";

const LISTS = ["device", ...recordKinds.map(({ kind }) => kind)] as [
	string,
	...string[],
];
const MAX_NAME = 100;
/** Number of views that a member may have of one list, and that an organization may share. */
const MAX_VIEWS = 50;
const MAX_PARAMETERS = 50;
const MAX_VALUE = 300;
/** Number of values that one parameter may have. */
const MAX_VALUES = 20;

/** A viewer saves views too, so the operations check by themselves who may change a view. */
const everybody = {
	toolset: "views",
	surface: "console",
	access: "read",
} as const;

const view = z.object({
	id: z.string(),
	list: z.string().describe("Kind of the list's records"),
	name: z.string(),
	search: z
		.record(z.string(), z.unknown())
		.describe("Parameters of the list's address"),
	is_shared: z.boolean().describe("true: the whole organization sees it"),
	updated_at: z.string(),
});
type View = z.output<typeof view>;

const COLUMNS =
	"id, list, name, search, owner_id is null as is_shared, updated_at";

const search = () =>
	z
		.record(
			z.string().max(MAX_NAME),
			z.union([
				z.string().max(MAX_VALUE),
				z.number(),
				z.boolean(),
				z.null(),
				z.array(z.string().max(MAX_NAME)).max(MAX_VALUES),
			]),
		)
		.refine((given) => Object.keys(given).length <= MAX_PARAMETERS, {
			error: `must have at most ${MAX_PARAMETERS} parameters`,
		})
		.describe("Parameters of the list's address");

export const listSavedViews = defineOperation({
	...everybody,
	name: "listSavedViews",
	title: "List saved views",
	description:
		"List your own views of a list and those that the organization shares, by name.",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		list: z.enum(LISTS).describe("Kind of the list's records"),
	}),
	output: z.object({ saved_views: z.array(view) }),
	run: async ({ client, membership, principal }, { list }) => {
		const { rows } = await client.query<View>(
			`select ${COLUMNS} from saved_views
			where organization_id = $1 and list = $2 and (owner_id is null or owner_id = $3)
			order by lower(name), id limit ${2 * MAX_VIEWS}`,
			[membership.organizationId, list, principal.userId],
		);
		return { saved_views: rows };
	},
});

export const saveView = defineOperation({
	...everybody,
	name: "saveView",
	title: "Save a view",
	description:
		"Save the search, filters, order and columns of a list under a name, for yourself or for the organization. Sharing a view, or changing a shared one, needs the role member.",
	isReadOnly: false,
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		id: idSchema("saved_view")
			.optional()
			.describe("View of this list to change. Without it, a new view is saved"),
		list: z.enum(LISTS).describe("Kind of the list's records"),
		name: nameSchema(MAX_NAME).describe("Name of the view"),
		search: search(),
		is_shared: z
			.boolean()
			.default(false)
			.describe("true shares the view. A shared view stays shared"),
	}),
	output: z.object({ saved_view: view }),
	run: async (context, { id, list, name, search, is_shared }) => {
		const { client, membership, principal } = context;
		const before = id === undefined ? undefined : await lockView(context, id);
		if (before && before.list !== list) throw notFound(before.id);
		const isShared = is_shared || before?.is_shared === true;
		const owner = isShared ? null : principal.userId;
		if (isShared) requireMember(context);
		if (before?.is_shared !== isShared) {
			await requireRoomFor(context, list, owner);
		}
		const { rows } = await explainName(() =>
			client.query<View>(
				`insert into saved_views (organization_id, id, list, name, search, owner_id)
				values ($1, $2, $3, $4, $5, $6)
				on conflict (organization_id, id) do update set name = excluded.name,
					search = excluded.search, owner_id = excluded.owner_id, updated_at = now()
				returning ${COLUMNS}`,
				[
					membership.organizationId,
					id ?? makeId(membership.organizationId, "saved_view"),
					list,
					name,
					JSON.stringify(search),
					owner,
				],
			),
		);
		const [after] = rows as [View];
		noteShared(context, before, after);
		return { saved_view: after };
	},
});

export const deleteView = defineOperation({
	...everybody,
	name: "deleteView",
	title: "Delete a saved view",
	description:
		"Delete one of your own views, or a shared one with the role member. The records stay.",
	isReadOnly: false,
	isDestructive: true,
	isIdempotent: true,
	tenant: "id",
	input: z.strictObject({ id: idSchema("saved_view") }),
	output: z.object({ deleted_saved_view_id: z.string() }),
	run: async (context, { id }) => {
		const before = await lockView(context, id);
		await context.client.query(
			"delete from saved_views where organization_id = $1 and id = $2",
			[context.membership.organizationId, id],
		);
		noteShared(context, before, undefined);
		return { deleted_saved_view_id: id };
	},
});

export const savedViewOperations = [
	listSavedViews,
	saveView,
	deleteView,
] as const;

/** Returns a view that the caller may change. Nobody sees the own view of somebody else. */
async function lockView(context: Context, id: string): Promise<View> {
	const { client, membership, principal } = context;
	const { rows } = await client.query<View>(
		`select ${COLUMNS} from saved_views
		where organization_id = $1 and id = $2 and (owner_id is null or owner_id = $3)
		for update`,
		[membership.organizationId, id, principal.userId],
	);
	const [found] = rows;
	if (!found) throw notFound(id);
	if (found.is_shared) requireMember(context);
	return found;
}

function requireMember({ membership }: Context): void {
	if (roleReaches(membership.role, "member")) return;
	throw new AppError(
		"forbidden",
		`permission denied: a shared view needs the role member; yours in this organization is ${membership.role}`,
	);
}

/** Throws bad_request if the owner, or the organization, has too many views of the list. */
function requireRoomFor(
	{ client, membership: { organizationId } }: Context,
	list: string,
	owner: string | null,
): Promise<void> {
	return enforceLimit(client, {
		lock: `saved views ${organizationId} ${list} ${owner}`,
		from: "saved_views where organization_id = $1 and list = $2 and owner_id is not distinct from $3",
		values: [organizationId, list, owner],
		max: MAX_VIEWS,
		error: () =>
			new AppError(
				"bad_request",
				owner === null
					? `the organization already shares ${MAX_VIEWS} views of this list; delete one first`
					: `you already have ${MAX_VIEWS} views of this list; delete one first`,
			),
	});
}

async function explainName<Result>(
	work: () => Promise<Result>,
): Promise<Result> {
	try {
		return await work();
	} catch (error) {
		if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
		throw badFields([
			{
				field: "name",
				message: "is already used by another view of this list",
			},
		]);
	}
}

/** Notes the change of a shared view. An own view concerns nobody else. */
function noteShared(
	context: Context,
	before: View | undefined,
	after: View | undefined,
): void {
	const was = before?.is_shared ? before : undefined;
	const is = after?.is_shared ? after : undefined;
	const known = is ?? was;
	if (!known) return;
	const fields: Change["fields"] = {};
	for (const name of ["list", "name", "search"] as const) {
		if (JSON.stringify(was?.[name]) === JSON.stringify(is?.[name])) continue;
		fields[name] = {
			...(was && { before: was[name] }),
			...(is && { after: is[name] }),
		};
	}
	if (Object.keys(fields).length === 0) return;
	context.changed({
		kind: "saved_view",
		id: known.id,
		name: known.name,
		fields,
	});
}
