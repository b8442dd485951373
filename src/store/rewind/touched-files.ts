import type { LogOutline } from '../../model/log-outline.js';
import { settleShapes } from '../../plan/rewind/changed-shape.js';
import type { FileChange, PresentState } from '../../plan/rewind/file-change.js';
import {
  type FileFacts,
  planFileChange,
  type TouchedFile,
  touchedFiles,
  withMadeFolders,
  withNothingBelowFiles,
} from '../../plan/rewind/rewind.js';
import { type BlobStore, unavailableReason } from '../parts/blob-store.js';
import { type FindPath, pathFinder } from '../workspace/checkpoint-paths.js';
import type { Workspace } from '../workspace/workspace.js';

/** Whose work a file is that is there with another content. */
type WhoseWork = (file: TouchedFile, present: PresentState) => Pick<FileFacts, 'change' | 'isAsLeft'>;

/** The files that checkpoints name, in the workspace where they are to go back, looked at as they are now. */
export class TouchedFiles {
  readonly find: FindPath;
  readonly all: readonly TouchedFile[];
  readonly #workspace: Workspace;
  readonly #blobs: BlobStore;

  constructor(workspace: Workspace, checkpoints: LogOutline['checkpoints'], blobs: BlobStore) {
    const find = pathFinder(workspace, checkpoints);
    this.find = find;
    this.all = withNothingBelowFiles(touchedFiles(checkpoints, (path, sequence) => find(path, sequence).resolved));
    this.#workspace = workspace;
    this.#blobs = blobs;
  }

  present({ path, firstNamedAt }: TouchedFile): PresentState {
    return this.#workspace.present(this.find(path, firstNamedAt));
  }

  /** Plans what is done to each of these files. */
  plan(files: readonly TouchedFile[], whose: WhoseWork): readonly FileChange[] {
    const paths = new Set(files.map(({ resolved }) => resolved));
    const changes = files.map((file) => {
      const present = this.#workspace.presentAmong(this.find(file.path, file.firstNamedAt), paths);
      return planFileChange(file, {
        present,
        unavailable: unavailableReason(this.#blobs, file.wanted),
        unwritable: this.#workspace.whyUnwritable(file.resolved, present),
        ...whose(file, present),
      });
    });
    return withMadeFolders(settleShapes(changes));
  }
}
