;;; (cairn thread): threads, and what they wait for each other with; docs/threads.md is for users.
;;;
;;; The names are those of SRFI 18 where it has any; MVars are Concurrent Haskell's, `touch` is Multilisp's.  How
;;; threads take turns is in (cairn scheduler).
(define-library (cairn thread)
  (export
   ;; threads
   thread? make-thread spawn thread-name thread-specific thread-specific-set! thread-start! thread-yield!
   thread-sleep! thread-join! thread-terminate! thread-raise! thread-interrupt! thread-state current-thread all-threads
   call-with-timeout
   join-timeout-exception? abandoned-mutex-exception? terminated-thread-exception? uncaught-exception?
   uncaught-exception-reason
   ;; mutexes and condition variables
   mutex? make-mutex mutex-name mutex-specific mutex-specific-set! mutex-state mutex-lock! mutex-unlock!
   call-with-mutex with-mutex
   condition-variable? make-condition-variable condition-variable-name condition-variable-specific
   condition-variable-specific-set! condition-variable-signal! condition-variable-broadcast!
   current-time time? time->seconds seconds->time current-exception-handler
   ;; MVars and channels
   mvar? make-mvar mvar-empty? mvar-take! mvar-read mvar-put! mvar-try-take! mvar-try-put! mvar-update!
   channel? make-channel channel-put! channel-get! channel-try-put! channel-try-get! channel-close! channel-closed?
   channel-count select
   ;; futures and pools
   future? make-future future future-done? touch
   thread-pool? make-thread-pool thread-pool-submit! thread-pool-shutdown!)
  (import (cairn syntax) (cairn primitives) (cairn layout) (cairn records) (cairn control) (cairn scheduler))
  (include "locks.scm")
  (include "channels.scm")
  (include "futures.scm"))
