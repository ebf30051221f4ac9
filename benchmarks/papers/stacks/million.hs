-- Many threads wait at one MVar and then answer through MVars of their own; see million.scm.
import Control.Concurrent
import Control.Monad
import System.Environment

start :: MVar () -> Int -> IO (MVar Int)
start gate number = do
  answer <- newEmptyMVar
  _ <- forkIO (readMVar gate >> putMVar answer number)
  return answer

main :: IO ()
main = runInUnboundThread $ do
  arguments <- getArgs
  let count = case arguments of { (n : _) -> read n; [] -> 1000 }
  gate <- newEmptyMVar
  let loop 0 answers = return answers
      loop number answers = do
        answer <- start gate number
        loop (number - 1) (answer : answers)
  answers <- loop (count :: Int) []
  yield
  putMVar gate ()
  foldM (\s answer -> do { n <- takeMVar answer; return $! s + n }) 0 answers >>= print
