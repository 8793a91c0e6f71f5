import { useMantineColorScheme } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { type Icon, IconDeviceLaptop } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { lastMomentOf } from "../parts/days.ts";
import { nameOrUnnamed } from "../parts/devices/device-name.ts";
import { besideFound } from "../parts/records/beside-words.ts";
import { usePast } from "../past.ts";
import { operationQuery, organizationsQuery } from "../queries.ts";
import { findRegisterKind, registerKinds } from "../register-kinds.ts";
import { recentVisits } from "./recent-visits.ts";
import {
	asksForAuditLog,
	type Command,
	commandsFor,
	type Destination,
	matching,
	similarTo,
} from "./search-commands.ts";

const TYPING_MS = 150;
const FOUND = 30;
const SIMILAR = "Did you mean";
const SIMILAR_COMMANDS = 5;

export interface Item {
	id: string;
	label: string;
	/** What tells it from others of the same name. */
	beside?: string;
	icon: Icon;
	isCommand: boolean;
	/** True for a record that does not match but has a similar name. */
	isSimilar?: true;
	choose: () => void;
}
interface ItemGroup {
	title: string;
	items: Item[];
}

/**
 * Returns the options for the typed words, or the records that were visited last if nothing is
 * typed. In audit mode, these are the records of the past day, also on a page that shows the
 * present: the pages that they lead to show the past.
 */
export function useSearchItems(typed: string, onClose: () => void) {
	const { org } = useParams({ strict: false });
	const { data: organizations } = useQuery(organizationsQuery);
	const organization = organizations?.find(({ id }) => id === org);
	const role = organization?.role;
	const navigate = useNavigate();
	const { setColorScheme } = useMantineColorScheme();
	const query = typed.trim();
	const [settled] = useDebouncedValue(query, TYPING_MS);
	const isAsked = org !== undefined && query !== "";
	const { day } = usePast();
	const then = day === undefined ? {} : { as_of: lastMomentOf(day) };
	const found = useQuery({
		...operationQuery("searchRecords", {
			organization_id: org ?? "",
			query: settled,
			size: FOUND,
			...then,
		}),
		enabled: isAsked && settled !== "",
		placeholderData: keepPreviousData,
	});
	const [visits] = useState(() => (org ? recentVisits(org) : []));
	const names = useQuery({
		...operationQuery("getRecordNames", {
			organization_id: org ?? "",
			ids: visits.map(({ id }) => id),
			...then,
		}),
		enabled: visits.length > 0,
	});

	const go = (to: Destination) => {
		onClose();
		void navigate(to as never);
	};
	const recordItem = (
		kind: string,
		id: string,
		name: string | null,
		beside = "",
	): Item => ({
		id,
		label: kind === "device" ? nameOrUnnamed(id, name) : (name ?? "Unnamed"),
		beside,
		icon: findRegisterKind(kind)?.icon ?? IconDeviceLaptop,
		isCommand: false,
		choose: () =>
			go(
				kind === "device"
					? { to: "/o/$org/devices/$id", params: { org: org ?? "", id } }
					: { to: "/o/$org/r/$kind/$id", params: { org: org ?? "", kind, id } },
			),
	});
	const commandItem = ({ id, label, icon, to, scheme }: Command): Item => ({
		id,
		label,
		icon,
		isCommand: true,
		choose: () => {
			if (to) return go(to);
			onClose();
			if (scheme) setColorScheme(scheme);
		},
	});
	const commands = commandsFor({
		org: role && org,
		mayWrite: role !== undefined && role !== "viewer",
		mayAdmin: role === "admin",
		mayReadAuditLog: organization?.reads_audit_log === true,
	});
	const pages = matching(commands.pages, query);
	const actions = matching(commands.actions, query);
	const commandGroups = [
		{ title: "Go to", items: pages.byLabel.map(commandItem) },
		{ title: "Actions", items: actions.byLabel.map(commandItem) },
	];
	// A user who types "laptop" probably looks for a risk or an asset, so the page Devices comes
	// after the records.
	const related = {
		title: "Related",
		items: [...pages.byOtherWords, ...actions.byOtherWords].map(commandItem),
	};
	const help = matching(commands.help, query);
	const helpPages = {
		title: "Help",
		items: [...help.byLabel, ...help.byOtherWords].map(commandItem),
	};
	const isSearching = isAsked && (settled !== query || found.isFetching);

	const similar = (found.data?.only_similar ?? []).map(
		({ kind, id, name, details }): Item => ({
			...recordItem(kind, id, name, besideFound(kind, details)),
			isSimilar: true,
		}),
	);
	const groups: ItemGroup[] = isAsked
		? [
				...commandGroups,
				...recordGroups(),
				{ title: SIMILAR, items: similar },
				...[related, helpPages],
			]
		: [
				{ title: "Recent", items: recentItems() },
				...commandGroups,
				...(query ? [helpPages] : []),
			];
	if (
		query !== "" &&
		!isSearching &&
		groups.every(({ items }) => items.every(({ isSimilar }) => isSimilar))
	) {
		const all = [...commands.pages, ...commands.actions, ...commands.help];
		const items = similarTo(all, query)
			.slice(0, SIMILAR_COMMANDS)
			.map((command): Item => ({ ...commandItem(command), isSimilar: true }));
		groups.splice(0, groups.length, {
			title: SIMILAR,
			items: [...similar, ...items],
		});
	}
	return {
		day,
		/** True if the reader looks for the audit log and may not read it. */
		isLogWithheld:
			role !== undefined &&
			organization?.reads_audit_log !== true &&
			asksForAuditLog(query),
		groups: groups.filter(({ items }) => items.length > 0),
		isSearching,
		error: isAsked ? found.error : null,
		refetch: found.refetch,
	};

	function recentItems(): Item[] {
		const byId = new Map(
			names.data?.records.map(({ id, name }) => [id, name]) ?? [],
		);
		// A record that has been deleted since the visit has no name.
		return visits
			.filter(({ id }) => byId.has(id))
			.map(({ kind, id }) => recordItem(kind, id, byId.get(id) ?? null));
	}

	/** Groups records by their kind. The kind of the best match comes first. */
	function recordGroups(): ItemGroup[] {
		const records = found.data?.records ?? [];
		return [...new Set(records.map(({ kind }) => kind))].map((kind) => ({
			title: labelOf(kind),
			items: records
				.filter((record) => record.kind === kind)
				.map(({ id, name, details }) =>
					recordItem(kind, id, name, besideFound(kind, details)),
				),
		}));
	}
}

function labelOf(kind: string): string {
	return registerKinds.find((known) => known.kind === kind)?.label ?? "Devices";
}
