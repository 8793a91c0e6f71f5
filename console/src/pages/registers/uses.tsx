import { Group, Paper, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { OutputOf } from "../../api.ts";
import { kinds } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import { operationQuery } from "../../queries.ts";
import { findRegisterKind, type RegisterKind } from "../../register-kinds.ts";
import { HandOver } from "./hand-over.tsx";

type Uses = OutputOf<"getRecordUses">;
type Use = Uses["uses"][number];

/** Links to records that name a person otherwise than as their owner, by the filter of their list. */
const NOT_AS_OWNER: Record<string, string> = {
	approver_id: "Documents as approver",
};

/** Texts for further duties of a person, by their names in `left`. Approvers are among the uses. */
const LEFT: Record<string, string> = {
	owner_of_nonconformities: "Checks whose nonconformities this person gets",
	signer: "Documents to sign",
	claimed_owner: "Devices as claimed owner",
};

const NONE: Uses = { uses: [], left: [] };

interface OfRecord {
	kind: RegisterKind;
	id: string;
	organizationId: string;
}

/** Loads in one request which lists contain records that refer to this one. */
function useUses({ kind, id }: Pick<OfRecord, "kind" | "id">): Uses {
	const mayHave = kinds.some(({ filters }) =>
		filters.some(({ reference }) => reference === kind),
	);
	const { data } = useQuery({
		...operationQuery("getRecordUses", { id }),
		enabled: mayHave,
	});
	return data ?? NONE;
}

/**
 * Links to the records that refer to this one and shows how many there are. Renders nothing if
 * there are none.
 */
export function WhereUsed({ kind, id, organizationId }: OfRecord) {
	const { uses, left } = useUses({ kind, id });
	const { mayWrite, mayAdmin } = useOrganization();
	if (uses.length === 0 && left.length === 0) return null;
	const hasToHandOver =
		uses.some(({ filter }) => !(filter in NOT_AS_OWNER)) ||
		(mayAdmin && left.some(({ as }) => as === "owner_of_nonconformities"));
	const title = kind === "people" ? "Owned by this person" : "Where it is used";
	return (
		<Paper withBorder p="lg" component="section" aria-label={title}>
			<Group justify="space-between" mb="xs">
				<Title order={2}>{title}</Title>
				{kind === "people" && mayWrite && (
					<HandOver
						personId={id}
						organizationId={organizationId}
						decisions={hasToHandOver ? [] : left}
					/>
				)}
			</Group>
			<Group gap="md">
				{uses.map((use) => (
					<Group key={use.kind + use.filter} gap={6}>
						<UseLink use={use} id={id} organizationId={organizationId} />
						<Text span size="sm" c="dimmed">
							{use.is_more ? `${use.count} or more` : use.count}
						</Text>
					</Group>
				))}
				{left.map(
					({ as, count }) =>
						LEFT[as] && (
							<Group key={as} gap={6}>
								<Text span>{LEFT[as]}</Text>
								<Text span size="sm" c="dimmed">
									{count}
								</Text>
							</Group>
						),
				)}
			</Group>
		</Paper>
	);
}

/**
 * Links to the records that refer to this one, without numbers. The dialog shows these links after
 * a rejected deletion, whose message already has the numbers.
 */
export function UsedNow({ kind, id, organizationId }: OfRecord) {
	const { uses } = useUses({ kind, id });
	if (uses.length === 0) return null;
	return (
		<Group gap="md">
			<Text size="sm">See what uses it:</Text>
			{uses.map((use) => (
				<UseLink
					key={use.kind + use.filter}
					use={use}
					id={id}
					organizationId={organizationId}
				/>
			))}
		</Group>
	);
}

function UseLink({
	use: { kind, filter },
	id,
	organizationId,
}: {
	use: Use;
	id: string;
	organizationId: string;
}) {
	const search = { [filter]: id };
	if (kind === "device") {
		return (
			<TextLink
				to="/o/$org/devices"
				params={{ org: organizationId }}
				search={search}
			>
				Devices
			</TextLink>
		);
	}
	return (
		<TextLink
			to="/o/$org/r/$kind"
			params={{ org: organizationId, kind }}
			search={search}
		>
			{NOT_AS_OWNER[filter] ?? findRegisterKind(kind)?.label ?? kind}
		</TextLink>
	);
}
