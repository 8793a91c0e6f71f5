import { Box, Button, Group, Switch, Tabs, Text } from "@mantine/core";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { OLD_TOKEN_DAYS } from "../../../../src/tokens/old-token.ts";
import { useOrganization } from "../../organization.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { DateTime, RelativeTime } from "../../parts/time.tsx";
import { operationQuery } from "../../queries.ts";
import { CreateToken } from "./create-token.tsx";
import { Sparkline } from "./sparkline.tsx";
import { TokenDetails } from "./token-details.tsx";
import {
	type ApiToken,
	everyDay,
	Scopes,
	TokenState,
	totalsOf,
	USAGE_DAYS,
} from "./token-words.tsx";

/** Replaces a token's id in the address and opens the form for a new token. */
const NEW = "new";
const ORGANIZATION = "organization";
/** The value in the address that shows only tokens older than OLD_TOKEN_DAYS. */
const OLD = "old";
const REFRESH_MS = 10_000;

/** Lists the user's API tokens, and all tokens of the organization for administrators. */
export function Page() {
	const { organizationId, mayAdmin } = useOrganization();
	const {
		token: opened,
		of,
		age,
		from,
	} = useSearch({ from: "/signed-in/o/$org/settings/api-tokens" });
	const navigate = useNavigate();
	const isOldOnly = age === OLD;
	const isOfOrganization = mayAdmin && of === ORGANIZATION;
	const own = useQuery({
		...operationQuery("listApiTokens", {}),
		enabled: !isOfOrganization,
		refetchInterval: REFRESH_MS,
	});
	const all = useQuery({
		...operationQuery("listOrganizationApiTokens", {
			organization_id: organizationId,
		}),
		enabled: isOfOrganization,
		refetchInterval: REFRESH_MS,
	});
	const tokens = isOfOrganization ? all : own;
	const found = tokens.data?.api_tokens ?? [];
	const rows = found
		.filter((token) => !isOldOnly || wantsRotation(token))
		.toSorted((a, b) => ORDER[a.status] - ORDER[b.status]);
	const hasNone = tokens.isSuccess && !isOldOnly && rows.length === 0;
	/** The parameters of the list, which stay in the address while a token is open. */
	const shownList = {
		...(from ? { from } : {}),
		...(isOfOrganization ? { of: ORGANIZATION } : {}),
		...(isOldOnly ? { age: OLD } : {}),
	};
	const show = (search: {
		token?: string;
		of?: string;
		age?: string;
		from?: string;
	}) =>
		navigate({
			to: "/o/$org/settings/api-tokens",
			params: { org: organizationId },
			search,
			resetScroll: false,
		});
	const open = (id: string | undefined) =>
		show({ ...shownList, ...(id ? { token: id } : {}) });
	const showOld = (isOn: boolean) =>
		show({
			...(from ? { from } : {}),
			...(isOfOrganization ? { of: ORGANIZATION } : {}),
			...(isOn ? { age: OLD } : {}),
		});
	const create = (
		<Button
			leftSection={<IconPlus size={16} aria-hidden />}
			onClick={() => open(NEW)}
		>
			Create token
		</Button>
	);
	const shown = found.find(({ id }) => id === opened);
	const list = (
		<>
			{tokens.isPending && <RowsSkeleton />}
			{tokens.isError && (
				<ErrorState error={tokens.error} onRetry={tokens.refetch} />
			)}
			{(isOldOnly || found.some(wantsRotation)) && (
				<Switch
					label={`Older than ${OLD_TOKEN_DAYS} days only`}
					checked={isOldOnly}
					onChange={({ currentTarget: { checked } }) => showOld(checked)}
					mb="md"
				/>
			)}
			{tokens.isSuccess && isOldOnly && rows.length === 0 && (
				<EmptyState
					title={`No token is older than ${OLD_TOKEN_DAYS} days`}
					actions={
						<Button variant="default" onClick={() => showOld(false)}>
							Show all tokens
						</Button>
					}
				>
					Revoked and expired tokens are not counted.
				</EmptyState>
			)}
			{hasNone && (
				<EmptyState
					title={isOfOrganization ? "No API tokens" : "No API tokens yet"}
					icon={<IconKey size={32} aria-hidden />}
					actions={isOfOrganization ? null : create}
				>
					{isOfOrganization
						? "No member has created a token."
						: "With a token, an AI client such as Claude or a script can work on the registers and devices for you."}
				</EmptyState>
			)}
			{rows.length > 0 && (
				<DataTable
					label="API tokens"
					columns={columnsFor(organizationId, isOfOrganization, shownList)}
					rows={rows}
				/>
			)}
		</>
	);
	return (
		<>
			<PageHeader
				title="API tokens"
				isWide
				parent={
					from === "first-steps" && (
						<TextLink
							to="/o/$org/first-steps"
							params={{ org: organizationId }}
							search={{ step: "API_TOKEN" }}
							inherit
						>
							First steps
						</TextLink>
					)
				}
				description="For AI clients and scripts. A token acts for its user in all of the user's organizations, with the user's current role in each."
				actions={!(hasNone && !isOfOrganization) && create}
			/>
			{mayAdmin ? (
				<Tabs
					value={isOfOrganization ? ORGANIZATION : "own"}
					onChange={(tab) =>
						show({
							...(from ? { from } : {}),
							...(tab === ORGANIZATION ? { of: ORGANIZATION } : {}),
							...(isOldOnly ? { age: OLD } : {}),
						})
					}
				>
					<Tabs.List mb="md">
						<Tabs.Tab value="own">Yours</Tabs.Tab>
						<Tabs.Tab value={ORGANIZATION}>
							All tokens in this organization
						</Tabs.Tab>
					</Tabs.List>
					<Tabs.Panel value="own">{!isOfOrganization && list}</Tabs.Panel>
					<Tabs.Panel value={ORGANIZATION}>
						{isOfOrganization && list}
					</Tabs.Panel>
				</Tabs>
			) : (
				list
			)}
			{opened === NEW && <CreateToken onClose={() => open(undefined)} />}
			{shown && (
				<TokenDetails
					key={shown.id}
					token={shown}
					isOfOrganization={isOfOrganization}
					onClose={() => open(undefined)}
				/>
			)}
		</>
	);
}

/** Returns true for the old tokens that the home page counts. */
function wantsRotation({ is_old, status }: ApiToken): boolean {
	return is_old && status === "ACTIVE";
}

const ORDER = { ACTIVE: 0, EXPIRED: 1, REVOKED: 2 };

function columnsFor(
	org: string,
	isOfOrganization: boolean,
	shownList: { of?: string; age?: string; from?: string },
): Column<ApiToken>[] {
	const user: Column<ApiToken> = {
		id: "user",
		header: "User",
		cell: (token) => (
			<>
				<Text size="sm">{token.user.name}</Text>
				<Text size="xs" c="dimmed">
					{token.user.email}
				</Text>
			</>
		),
	};
	return [
		{
			id: "name",
			header: "Name",
			cell: (token) => (
				<>
					<TextLink
						className="data-table-link"
						to="/o/$org/settings/api-tokens"
						params={{ org }}
						search={{ ...shownList, token: token.id }}
						resetScroll={false}
						size="sm"
						fw={500}
						lineClamp={2}
					>
						{token.name}
					</TextLink>
					<Text size="xs" lineClamp={2}>
						<Scopes token={token} isBrief />
					</Text>
					{token.description && (
						<Text size="xs" c="dimmed" lineClamp={2}>
							{token.description}
						</Text>
					)}
				</>
			),
		},
		...(isOfOrganization ? [user] : []),
		{
			id: "state",
			header: "Status",
			cell: (token) => (
				<Box miw={155}>
					<TokenState token={token} />
				</Box>
			),
		},
		{
			id: "used",
			header: isOfOrganization ? "Last used here" : "Last used",
			cell: (token) => <LastUsed token={token} />,
		},
		{
			id: "calls",
			header: `Calls${isOfOrganization ? " here" : ""}, ${USAGE_DAYS} days`,
			cell: (token) => <Calls token={token} />,
		},
		{
			id: "created",
			header: "Created",
			cell: ({ created_at }) => <DateTime value={created_at} />,
		},
		{
			id: "expires",
			header: "Expires",
			cell: ({ expires_at }) =>
				expires_at ? <DateTime value={expires_at} /> : "Never",
		},
	];
}

function LastUsed({ token }: { token: ApiToken }) {
	if (!token.last_used_at) {
		return (
			<Text size="sm" c="dimmed">
				Never
			</Text>
		);
	}
	const by = [token.last_used_client, token.last_used_address].filter(Boolean);
	return (
		<>
			<Text size="sm">
				<RelativeTime value={token.last_used_at} />
			</Text>
			<Text size="xs" c="dimmed" lineClamp={2} title={by.join(", ")}>
				{by.join(", ")}
			</Text>
		</>
	);
}

function Calls({ token }: { token: ApiToken }) {
	const { calls, errors } = totalsOf(token);
	return (
		<Group gap="xs" wrap="nowrap" align="flex-end">
			<Sparkline days={everyDay(token, Date.now())} />
			<div>
				<Text size="sm" fw={500} lh={1.2}>
					{calls.toLocaleString()}
				</Text>
				{errors > 0 && (
					<Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
						{errors.toLocaleString()} {errors === 1 ? "error" : "errors"}
					</Text>
				)}
			</div>
		</Group>
	);
}
