import { Text } from "@mantine/core";
import { useOrganization } from "../../organization.ts";
import {
	type Entry,
	otherEndOf,
} from "../../parts/audit-actions/audit-actions.ts";
import { endOfId, nameOrUnnamed } from "../../parts/devices/device-name.ts";
import { TextLink } from "../../parts/links.tsx";
import { findRegisterKind } from "../../register-kinds.ts";
import { kindLabel } from "./audit-filter-choices.tsx";

/**
 * Shows the record of an entry, with a link if the record still has a page. For a link between two
 * records, names both.
 */
export function AuditRecord({ entry }: { entry: Entry }) {
	const { record_kind: kind, record_name: name } = entry;
	const other = otherEndOf(entry);
	if (!kind) return <Text size="sm">–</Text>;
	const { record_id: id } = entry;
	const shown =
		kind === "device" && id ? nameOrUnnamed(id, name) : name || kindLabel(kind);
	if (other) {
		return (
			<>
				<Text size="xs" c="dimmed">
					{kindLabel(kind)}
				</Text>
				<RecordLink entry={entry}>
					{name || `unnamed (${endOfId(id ?? "")})`}
				</RecordLink>
				<Text size="xs" c="dimmed">
					and {kindLabel(other.kind).toLowerCase()}
				</Text>
				<Text size="sm" lineClamp={2}>
					{other.name || `unnamed (${endOfId(other.id)})`}
				</Text>
			</>
		);
	}
	return (
		<>
			<RecordLink entry={entry}>{shown}</RecordLink>
			{name && (
				<Text size="xs" c="dimmed">
					{kindLabel(kind)}
				</Text>
			)}
		</>
	);
}

function RecordLink({ entry, children }: { entry: Entry; children: string }) {
	const { organizationId: org } = useOrganization();
	const { record_kind: kind, record_id: id, operation } = entry;
	const common = { size: "sm", lineClamp: 2 } as const;
	// The record that lost a link is still there.
	const isGone = /^(delete|remove|leave)/.test(operation) && !otherEndOf(entry);
	if (!kind || !id || isGone) return <Text {...common}>{children}</Text>;
	if (kind === "device") {
		return (
			<TextLink to="/o/$org/devices/$id" params={{ org, id }} {...common}>
				{children}
			</TextLink>
		);
	}
	if (kind === "api_token") {
		return (
			<TextLink
				to="/o/$org/settings/api-tokens"
				params={{ org }}
				search={{ of: "organization", token: id }}
				{...common}
			>
				{children}
			</TextLink>
		);
	}
	if (["member", "user", "invitation"].includes(kind)) {
		return (
			<TextLink to="/o/$org/settings/members" params={{ org }} {...common}>
				{children}
			</TextLink>
		);
	}
	if (kind === "import") {
		const { kind: of } = entry.changes as { kind?: { after?: string } };
		return of?.after && findRegisterKind(of.after) ? (
			<TextLink
				to="/o/$org/r/$kind/import"
				params={{ org, kind: of.after }}
				{...common}
			>
				{children}
			</TextLink>
		) : (
			<Text {...common}>{children}</Text>
		);
	}
	if (kind === "organization") {
		return (
			<TextLink to="/o/$org/settings/organization" params={{ org }} {...common}>
				{children}
			</TextLink>
		);
	}
	if (!findRegisterKind(kind)) return <Text {...common}>{children}</Text>;
	return (
		<TextLink to="/o/$org/r/$kind/$id" params={{ org, kind, id }} {...common}>
			{children}
		</TextLink>
	);
}
