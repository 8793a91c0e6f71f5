import { Button, Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconBookmark, IconCheck } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { memo, useState } from "react";
import { call, type InputOf, type OutputOf } from "../api.ts";
import { type ListControls, type ListSearch, viewOf } from "../list-search.ts";
import { useOrganization } from "../organization.ts";
import { forgetReadings, operationQuery } from "../queries.ts";
import { Confirm } from "./confirm.tsx";
import { sentenceOf } from "./error-state.tsx";
import { NameView } from "./name-view.tsx";
import { showFailure } from "./show-failure.ts";

export type SavedView = OutputOf<"listSavedViews">["saved_views"][number];
type ListName = InputOf<"listSavedViews">["list"];

/**
 * Chooses, saves and changes the views of a list. The address has the filters of the chosen view
 * and its id, so the link works for somebody who cannot see the view.
 */
export const SavedViews = memo(function SavedViews({
	listName,
	list,
}: {
	listName: string;
	list: ListControls;
}) {
	const { organizationId, mayWrite } = useOrganization();
	const [isOpen, setOpen] = useState(false);
	const [asked, setAsked] = useState<"new" | "rename" | "delete">();
	const chosenId = list.search.view;
	const found = useQuery({
		...operationQuery("listSavedViews", {
			organization_id: organizationId,
			list: listName as ListName,
		}),
		// A list page that shows no view need not know the views before the menu opens.
		enabled: isOpen || chosenId !== undefined,
	});
	const views = found.data?.saved_views ?? [];
	const chosen = views.find(({ id }) => id === chosenId);
	const now = viewOf(list.search);
	const isChanged = chosen && !isSame(chosen.search as ListSearch, now);
	const mayChange = chosen && (mayWrite || !chosen.is_shared);
	const save = (view: Omit<InputOf<"saveView">, "organization_id" | "list">) =>
		call("saveView", {
			organization_id: organizationId,
			list: listName as ListName,
			...view,
		});
	const changing = useMutation({
		mutationFn: save,
		onSuccess: () => {
			notifications.show({ message: "The view is saved" });
			void forgetReadings();
		},
		onError: (error) =>
			showFailure("The view was not saved", sentenceOf(error)),
	});
	const itemOf = (view: SavedView) => (
		<Menu.Item
			key={view.id}
			aria-current={view.id === chosenId}
			rightSection={view.id === chosenId && <IconCheck size={16} aria-hidden />}
			onClick={() => list.openView(view.id, view.search as ListSearch)}
		>
			{view.name}
		</Menu.Item>
	);
	const own = views.filter((view) => !view.is_shared);
	const shared = views.filter((view) => view.is_shared);
	const close = () => setAsked(undefined);
	return (
		<>
			<Menu
				position="bottom-end"
				width={260}
				opened={isOpen}
				onChange={setOpen}
				styles={{ itemLabel: { minWidth: 0, overflowWrap: "anywhere" } }}
			>
				<Menu.Target>
					<Button
						variant="default"
						leftSection={<IconBookmark size={16} aria-hidden />}
						maw={220}
						aria-label={chosen ? `View: ${chosen.name}` : "Views"}
					>
						{chosen ? `${chosen.name}${isChanged ? " *" : ""}` : "Views"}
					</Button>
				</Menu.Target>
				<Menu.Dropdown mah="70vh" style={{ overflowY: "auto" }}>
					{found.isError && (
						<Menu.Label>The views could not be loaded.</Menu.Label>
					)}
					{found.isPending && <Menu.Label>Loading …</Menu.Label>}
					{found.isSuccess && views.length === 0 && (
						<Menu.Label>No views are saved yet</Menu.Label>
					)}
					{own.length > 0 && <Menu.Label>My views</Menu.Label>}
					{own.map(itemOf)}
					{shared.length > 0 && <Menu.Label>Shared views</Menu.Label>}
					{shared.map(itemOf)}
					<Menu.Divider />
					{chosen && (
						<Menu.Item onClick={() => list.openView(undefined, {})}>
							Leave this view
						</Menu.Item>
					)}
					{mayChange && isChanged && (
						<Menu.Item
							onClick={() =>
								changing.mutate({ ...stateOf(chosen), search: now })
							}
						>
							Save the changes to “{chosen.name}”
						</Menu.Item>
					)}
					<Menu.Item onClick={() => setAsked("new")}>
						Save as a view …
					</Menu.Item>
					{mayChange && (
						<>
							<Menu.Item onClick={() => setAsked("rename")}>Rename …</Menu.Item>
							{mayWrite && !chosen.is_shared && (
								<Menu.Item
									onClick={() =>
										changing.mutate({ ...stateOf(chosen), is_shared: true })
									}
								>
									Share with the organization
								</Menu.Item>
							)}
							<Menu.Item
								c="var(--mantine-color-error)"
								onClick={() => setAsked("delete")}
							>
								Delete …
							</Menu.Item>
						</>
					)}
				</Menu.Dropdown>
			</Menu>
			{asked === "new" && (
				<NameView
					title="Save as a view"
					name=""
					mayShare={mayWrite}
					onClose={close}
					onSave={async (name, isShared) => {
						const { saved_view } = await save({
							name,
							search: now,
							is_shared: isShared,
						});
						await list.openView(saved_view.id, now);
					}}
				/>
			)}
			{asked === "rename" && chosen && (
				<NameView
					title="Rename the view"
					name={chosen.name}
					mayShare={false}
					onClose={close}
					onSave={(name) => save({ ...stateOf(chosen), name })}
				/>
			)}
			{chosen && (
				<Confirm
					opened={asked === "delete"}
					onClose={close}
					title="Delete the view?"
					action="Delete the view"
					onConfirm={async () => {
						await call("deleteView", { id: chosen.id });
						void forgetReadings();
						await list.openView(undefined, now);
					}}
				>
					{chosen.is_shared
						? `Everybody in the organization loses the view “${chosen.name}”.`
						: `You lose the view “${chosen.name}”.`}{" "}
					The records stay as they are.
				</Confirm>
			)}
		</>
	);
});

/** Returns what a change of the view does not touch. */
function stateOf({ id, name, search }: SavedView) {
	return { id, name, search: search as InputOf<"saveView">["search"] };
}

function isSame(one: ListSearch, other: ListSearch): boolean {
	const sorted = (search: ListSearch) =>
		JSON.stringify(Object.entries(search).sort(([a], [b]) => (a < b ? -1 : 1)));
	return sorted(one) === sorted(other);
}
