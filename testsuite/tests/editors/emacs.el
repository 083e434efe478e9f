;; Drives Emacs with the configuration of docs/editors.md: opens a source with two mistakes, and prints the diagnostics and
;; the completions. Must not depend on the server.

(package-initialize)
(load-file "setup.el")
(find-file "a.cl")
;; Without a terminal there are no commands after which hooks run.
(run-hooks 'post-command-hook)
(let ((end (+ (float-time) 60)))
  (while (and (< (float-time) end) (not (flymake-diagnostics)))
    (accept-process-output nil 0.1)
    (when (bound-and-true-p flymake-mode) (flymake-start))))
(dolist (diagnostic (flymake-diagnostics))
  (message "diagnostic %s: %s"
           (line-number-at-pos (flymake-diagnostic-beg diagnostic))
           (car (split-string (flymake-diagnostic-text diagnostic) "\n"))))
(search-forward "get_gl")
(dolist (word (all-completions "get_gl" (nth 2 (eglot-completion-at-point))))
  (message "completion %s" (substring-no-properties word)))
(kill-emacs)
